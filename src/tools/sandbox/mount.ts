/**
 * One thing that a layout puts into the sandbox's file system, in order: a later mount lies on top of an earlier one.
 *
 * - `read-only`, `writable`: a file or folder of the host, by its real path: what a link in a repository leads to is never mounted. `optional`: left
 *   out when the host has none, or it is a link.
 * - `empty-file`, `empty-folder`: covers what is there with nothing, read-only. What it covers has to exist.
 * - `text-file`: covers what is there with a text that holds no secret, read-only.
 * - `link`: a symbolic link, where nothing is.
 * - `sealed`: what the layout's overlay shows at `target`, read-only; left out when that is not there.
 * - `scratch`: a fresh writable folder in memory of at most `bytes`.
 * - `overlay`: `source` with writes that stay in memory (at most `bytes`) and vanish with the command, unless the caller picks them up
 *   (`inspect` of its options). One per layout.
 */
export type Mount =
  | {
      readonly kind: 'read-only' | 'writable';
      readonly source: string;
      readonly target: string;
      readonly optional?: boolean;
    }
  | { readonly kind: 'empty-file' | 'empty-folder' | 'sealed'; readonly target: string }
  | { readonly kind: 'text-file'; readonly target: string; readonly text: string }
  | { readonly kind: 'link'; readonly target: string; readonly to: string }
  | { readonly kind: 'scratch'; readonly target: string; readonly bytes: number }
  | {
      readonly kind: 'overlay';
      readonly source: string;
      readonly target: string;
      readonly bytes: number;
      /** A folder that lies between the source and what is written: its files cover the source's. */
      readonly layer?: string;
      /** Nothing can be written after all: the layer alone is wanted. */
      readonly readOnly?: boolean;
    };
