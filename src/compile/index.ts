export { compileSpecs } from './compile-specs.ts';
export type { EnvelopeMeta } from './envelope.ts';
export { facts, type GuardedEvent, guards, type MachineEvent } from './guards.ts';
export type { Machine } from './machine.ts';
