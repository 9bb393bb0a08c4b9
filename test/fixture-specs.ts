import { join } from 'node:path';
import { loadSpecs } from '../src/spec/load/load-specs.ts';
import type { SpecSet } from '../src/spec/types.ts';

/**
 * The spec set of tests that are not about the built-in one: seven peripherals, a mode gate, all tools and scopes that
 * it uses.
 */
export const FIXTURE_SPECS = join(import.meta.dirname, 'fixtures/specs/seven');

export const fixtureSpecs: SpecSet = await loadSpecs(FIXTURE_SPECS);

/** The modes of the built-in gate, in the order of their transitions. */
export const MODES = ['discuss', 'diagnose', 'execute'] as const;
