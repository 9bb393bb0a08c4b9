import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly runFolder: string;
  }
}

/** Makes the folder for what workers build once. It is removed after the run, because a worker may be killed. */
export default function makeRunFolder({ provide }: TestProject): () => void {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-run-')));
  provide('runFolder', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Makes an empty folder that exists until the end of the test run. */
export const folderOfRun = (): string => mkdtempSync(join(inject('runFolder'), 'built-'));
