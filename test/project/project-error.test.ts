import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openSession, ProjectError } from '../../src/index.ts';
import { operatorRemedy } from '../../src/project/project-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'hopgate-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['a root that does not exist', join(folder, 'nowhere'), 'there is no folder'],
  ['a root that is a file', join(folder, 'file'), 'is not a folder'],
])('a program gets %s as a ProjectError without a command-line flag', async (_, root, message) => {
  writeFileSync(join(folder, 'file'), '');
  const error = await openSession({ root, agent: 'worker', store: 'memory' }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ProjectError);
  expect(error).toMatchObject({ code: 'no-root', remedy: 'Pass the folder of the repository as `root`.' });
  expect((error as ProjectError).message).toContain(message);
  expect(operatorRemedy(error as ProjectError)).toBe('Name the repository with --root DIR.');
});

it('a misspelt option is refused, so that no session opens with other specs than requested', async () => {
  const opened = openSession({ root: folder, agent: 'worker', store: 'memory', spec: 'mine' } as never);
  await expect(opened).rejects.toThrow('openSession has no option "spec"; did you mean "specs"?');
});
