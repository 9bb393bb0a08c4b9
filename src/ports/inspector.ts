/** Observes a session's machines. Must not throw; must not block. */
export interface Inspector {
  actor(machine: { readonly id: string; readonly config: object }, snapshot: object): void;
  event(machineId: string, event: object): void;
  snapshot(machineId: string, snapshot: object, event: object): void;
}
