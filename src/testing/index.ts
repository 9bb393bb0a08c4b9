export { countingIds } from './counting-ids.ts';
export type { CoverageRow } from './coverage.ts';
export { describeSpec } from './describe-spec.ts';
export { FixedClock } from './fixed-clock.ts';
export { generatedTest } from './generated-test.ts';
export { type ScriptedBackend, type ScriptedResult, scriptedBackend } from './scripted.ts';
export { type GeneratedTest, type GeneratedTests, generateTests, type TestSpecsOptions } from './test-specs.ts';
