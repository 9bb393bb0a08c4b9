import type { Json, Principal } from '../spec/types.ts';
import type { Fields } from './json.ts';

/** A request as it is put to a session. `approves`: somebody is there who says yes. */
export type Asked =
  | { readonly kind: 'start'; readonly peripheral: string; readonly by: Principal; readonly context?: Fields }
  | { readonly kind: 'step'; readonly tool: string; readonly args: Json }
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
  | { readonly kind: 'close' };

/** What the spec says of a request. `code` is a denial code; `rule` names what stands against it, in the spec's words. */
export type Expected = { readonly ok: true } | { readonly ok: false; readonly code: string; readonly rule: string };

export const LAWFUL: Expected = { ok: true };
export const refused = (code: string, rule: string): Expected => ({ ok: false, code, rule });
