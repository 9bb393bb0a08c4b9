import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import type { SpecSet } from '../../src/spec/types.ts';

/** A change of a spec file: its path, a text, and the replacement; null removes the file. */
type Edit = readonly [file: string, from: string, to: string | null];

const PATHS = 'write: [src/, docs/, scripts/]';

/** Each constraint of the built-in specs, and how to drop it. */
export const ABLATIONS: { readonly [dropped: string]: readonly Edit[] } = {
  'nothing (the built-in specs)': [],
  'explore cannot write': [
    ['peripherals/explore.yaml', 'bash-readonly, ', 'bash-readonly, write, '],
    ['scopes.yaml', 'full-codebase: { read: root, write: []', `full-codebase: { read: root, ${PATHS}`],
  ],
  'test cannot write': [
    ['peripherals/test.yaml', 'tools: [read, ', 'tools: [read, write, '],
    ['scopes.yaml', 'test-commands-only: { read: root, write: []', `test-commands-only: { read: root, ${PATHS}`],
  ],
  'edit stays in its scope': [['peripherals/edit.yaml', 'paths: [src/, docs/, scripts/]', 'paths: [.]']],
  'deploy needs passing tests': [
    ['peripherals/test.yaml', 'pass: [deploy, reflect]', 'pass: reflect\n  hop-deploy: deploy'],
    ['peripherals/deploy.yaml', ', tests-passed]', ']'],
  ],
  'a mode for each effect': [['gate.yaml', '', null]],
};

/** The built-in specs after some edits. */
export async function edited(edits: readonly Edit[]): Promise<SpecSet> {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-ablation-'));
  try {
    cpSync('specs', folder, { recursive: true });
    // The properties state what the dropped constraint proves.
    rmSync(join(folder, 'properties.yaml'));
    for (const [name, from, to] of edits) {
      const file = join(folder, name);
      const text = readFileSync(file, 'utf8');
      if (!text.includes(from))
        throw new Error(`${name} has no text ${JSON.stringify(from)}; correct ABLATIONS in test/effect/ablations.ts`);
      if (to === null) rmSync(file);
      else writeFileSync(file, text.replace(from, to));
    }
    return await loadSpecs(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
