export { type CompiledSpecs, compileSpecs } from './compile-specs.ts';
export {
  advance,
  buildMachine,
  initialSnapshot,
  type Machine,
  type MachineSnapshot,
  persist,
  restore,
} from './machine.ts';
export { CLOSED, OUTSIDE } from './hop-graph.ts';
