export { type CompiledSpecs, compileSpecs } from './compile-specs.ts';
export { advance, initialSnapshot, type Machine, type MachineSnapshot, persist } from './machine.ts';
