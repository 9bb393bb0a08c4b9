import { executableFileFinding } from '../evidence/findings/executable-files.ts';
import { findingsOfEffects } from '../evidence/findings/findings.ts';
import { describeWeakenedTests, scanTestFile, type TestFileScan } from '../evidence/findings/weakened-tests.ts';
import type { CallEnvelope, ObservedEffect } from '../ports/tool-backend.ts';
import type { Json } from '../spec/types.ts';

/** The state of a file: the test-related patterns found in its text (skip, only, …), and its mode. */
interface FileState {
  readonly signals: TestFileScan | null;
  readonly mode: number;
}

export const fileStateOf = (path: string, text: string | null, mode: number): FileState => ({
  signals: scanTestFile(path, text),
  mode,
});

/**
 * Adds findings to an effect, if there are any: the file will run outside the sandbox, it weakens the tests, or both.
 * @param after null if the file was deleted
 */
export function addFindingsToEffect(
  { config }: Pick<CallEnvelope, 'config'>,
  effect: ObservedEffect,
  before: TestFileScan | null,
  after: FileState | null,
): ObservedEffect {
  const runs =
    after && executableFileFinding(effect.path, { executable: (after.mode & 0o111) !== 0, deploy: config.deploy });
  const all = [describeWeakenedTests(before, after?.signals ?? null), runs?.why].filter((why) => why != null);
  return all.length === 0 ? effect : { ...effect, finding: all.join('; ') };
}

/** The field of a result that lists the findings of effects; empty if there are none. */
export function fieldWithFindings(effects: readonly ObservedEffect[]): { readonly findings?: Json } {
  const found = findingsOfEffects(effects);
  return found.length === 0 ? {} : { findings: found.map((finding) => ({ ...finding })) };
}
