/**
 * One mount of a layout. The order matters: a later mount covers an earlier one.
 *
 * - `read-only`, `writable`: a file or folder of the host, by its real path: the target of a link in a repository is
 *   never mounted. `optional`: skipped if it does not exist or is a link.
 * - `empty-file`, `empty-folder`: covers the target with an empty one, read-only. The target must exist.
 * - `text-file`: covers the target with a text that contains no secret, read-only. `isOpen`: the target contains no
 *   secret either, so it may be replaced during the command.
 * - `link`: a symbolic link at a path that does not exist.
 * - `sealed`: the overlay's file or folder at `target`, read-only; skipped if it does not exist.
 * - `scratch`: a fresh writable folder in memory of at most `bytes`.
 * - `outbox`: a fresh writable folder for outputs outside of the tree; needs an overlay, whose `bytes` it shares. The
 *   caller can read it as it reads the overlay's writes.
 * - `overlay`: `source` with writes that stay in memory (at most `bytes`) and are discarded after the command; the
 *   caller can read them before (`inspect` of the options). A layout has at most one overlay of the root, and with it
 *   one of a folder outside of the root, within the same `bytes`.
 */
export type SandboxMount =
  | {
      readonly kind: 'read-only' | 'writable';
      readonly source: string;
      readonly target: string;
      readonly optional?: boolean;
    }
  | { readonly kind: 'empty-file' | 'empty-folder' | 'sealed' | 'outbox'; readonly target: string }
  | { readonly kind: 'text-file'; readonly target: string; readonly text: string | Buffer; readonly isOpen?: boolean }
  | { readonly kind: 'link'; readonly target: string; readonly to: string }
  | { readonly kind: 'scratch'; readonly target: string; readonly bytes: number }
  | {
      readonly kind: 'overlay';
      readonly source: string;
      readonly target: string;
      readonly bytes: number;
      /** A folder between the source and the writes; its files hide the files of the source. */
      readonly layer?: string;
      /** Empty files in `source`, relative to it; `findCoversThatWereRead` finds the ones that a command read. */
      readonly covers?: readonly string[];
      /** Mount the overlay read-only, because only its `layer` is needed. */
      readonly readOnly?: boolean;
    };
