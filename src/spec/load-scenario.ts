import { readFile } from 'node:fs/promises';
import { SpecError } from './issues.ts';
import { parseScenario } from './parse-scenario.ts';
import type { Scenario } from './scenario-file.ts';

/**
 * Loads a scenario file.
 * @throws {@link SpecError} with all problems of the file
 */
export async function loadScenario(file: string): Promise<Scenario> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    const suggestion = 'name a scenario file in YAML';
    throw new SpecError([{ file, path: '', message: 'there is no such file', suggestion }]);
  });
  const parsed = parseScenario({ file, text });
  if (!parsed.ok) throw new SpecError(parsed.issues);
  return parsed.scenario;
}
