import { readRegularFile, UnreadableFile } from '../../base/read-file.ts';
import { SpecError } from '../check/spec-problem.ts';
import { MAX_AUTHORED_FILE_BYTES } from '../policy/limits.ts';
import { parseScenario } from '../resolve/parse-scenario.ts';
import type { Scenario } from '../schema/scenario-file.ts';

/** Loads a scenario file. @throws {@link SpecError} with all problems of the file */
export async function loadScenario(file: string): Promise<Scenario> {
  const text = readText(file);
  const parsed = parseScenario({ file, text });
  if (!parsed.ok) throw new SpecError(parsed.problems);
  return parsed.scenario;
}

function readText(file: string): string {
  try {
    return readRegularFile(file, MAX_AUTHORED_FILE_BYTES).toString('utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isMissing && !(error instanceof UnreadableFile)) throw error;
    const message = isMissing ? 'there is no such file' : (error as UnreadableFile).problem;
    throw new SpecError([{ file, path: '', message, suggestion: 'name a scenario file in YAML' }]);
  }
}
