import type { Fields } from '../../base/json.ts';
import type { Json, Principal } from '../../spec/types.ts';

/** A request to a session, as its evidence shows it. `approves` is true if the evidence holds an approval of it. */
export type AuditRequest =
  | { readonly kind: 'start'; readonly peripheral: string; readonly by: Principal; readonly context?: Fields }
  | {
      readonly kind: 'step';
      readonly tool: string;
      readonly args: Json;
      readonly approves?: boolean;
      /** The arguments that are stored as blobs. */
      readonly apart?: readonly string[];
    }
  | {
      readonly kind: 'hop';
      readonly to: string;
      readonly exit?: string;
      readonly reason: string;
      readonly fruit?: Fields;
      readonly by: Principal;
      readonly approves: boolean;
    }
  | { readonly kind: 'stop'; readonly fruit?: Fields }
  | {
      readonly kind: 'mode';
      readonly to: string;
      readonly by: Principal;
      readonly summary?: string;
      readonly reset?: boolean;
      readonly approves: boolean;
    }
  | {
      readonly kind: 'delegate';
      /** Present if the request starts an agent of the agency; `acts` is true if that agent has tools. */
      readonly agency?: { readonly acts: boolean };
      readonly to: string;
      readonly by: Principal;
      readonly reason: string;
      readonly approves: boolean;
    }
  | { readonly kind: 'close' };

export type RequestOfKind<Kind extends AuditRequest['kind']> = Extract<AuditRequest, { kind: Kind }>;
