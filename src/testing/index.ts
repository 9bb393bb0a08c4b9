export { scriptedBackend, type ScriptedBackend, type ScriptedResult } from '../tools/scripted.ts';
export { countingIds } from './counting-ids.ts';
export { FixedClock } from './fixed-clock.ts';
