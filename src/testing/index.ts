export { countingIds } from './doubles/counting-ids.ts';
export type { CoverageRow } from './plan/coverage.ts';
export { describeSpec } from './describe-spec.ts';
export { FixedClock } from './doubles/fixed-clock.ts';
export { generatedTest } from './generated-test.ts';
export { type ScriptedBackend, type ScriptedResult, scriptedBackend } from './doubles/scripted.ts';
export { type GeneratedTest, type GeneratedTests, generateTests, type TestSpecsOptions } from './test-specs.ts';
