export { describeSpec } from './describe-spec.ts';
export { countingIds } from './doubles/counting-ids.ts';
export { FixedClock } from './doubles/fixed-clock.ts';
export { type ScriptedBackend, type ScriptedResult, scriptedBackend } from './doubles/scripted-backend.ts';
export { type EmittedMoves, type EmittedPath, emittedTest } from './emitted-test.ts';
export { type GeneratedTest, type GeneratedTests, generateTests, type TestSpecsOptions } from './generate-tests.ts';
export type { CoverageRow } from './plan/coverage.ts';
export type { Move } from './plan/move.ts';
export type { PlannedCase } from './plan/planned-case.ts';
