export { compileSpecs } from './compile-specs.ts';
export { initialSnapshot, type Machine } from './machine.ts';
