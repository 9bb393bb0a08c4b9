/** One file that a patch touches. Paths are as written. */
export type PatchFile =
  | { readonly kind: 'add'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      /** The file's new path; null if it is not moved. */
      readonly moveTo: string | null;
      readonly hunks: readonly PatchHunk[];
    };

/** Replaces old lines by new ones; every line of both texts ends with a line break. */
interface PatchHunk {
  /** The line after `@@`, which locates the change. */
  readonly at: string | null;
  readonly old: string;
  readonly new: string;
}

type ParsedPatch =
  | { readonly ok: true; readonly files: readonly PatchFile[] }
  | { readonly ok: false; readonly line: number; readonly why: string };

const FILE = /^\*\*\* (Add|Delete|Update) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const END_OF_FILE = '*** End of File';

/**
 * Reads Codex's patch envelope (`*** Begin Patch` … `*** End Patch`). Strict: text that the grammar leaves ambiguous is
 * a problem with its line number, so that a patch never touches a file that the result does not name.
 *
 * @example
 // { ok: true, files: [{ kind: 'add', path: 'a.txt', … }] }
 * parsePatch('*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch');
 */
export function parsePatch(text: string): ParsedPatch {
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  if (lines[0] !== '*** Begin Patch') return patchProblem(0, 'it has to begin with "*** Begin Patch"');
  const end = lines.length - 1;
  if (end === 0 || lines[end] !== '*** End Patch') return patchProblem(end, 'it has to end with "*** End Patch"');
  const files: PatchFile[] = [];
  for (let at = 1; at < end; ) {
    const header = FILE.exec(lines[at] ?? '');
    const [, kind, path = ''] = header ?? [];
    if (!header)
      return patchProblem(
        at,
        'a file has to begin here: "*** Add File: …", "*** Update File: …" or "*** Delete File: …"',
      );
    const wrong = pathProblem(path);
    if (wrong !== null) return patchProblem(at, wrong);
    const from = at + 1;
    at = from;
    while (at < end && !FILE.test(lines[at] ?? '')) at++;
    const body = lines.slice(from, at);
    const file =
      kind === 'Add' ? addedFile(path, body) : kind === 'Delete' ? deletedFile(path, body) : updatedFile(path, body);
    if ('why' in file) return patchProblem(from + file.index, file.why);
    files.push(file);
  }
  if (files.length === 0) return patchProblem(0, 'it touches no file');
  const paths = files.flatMap((file) => [file.path, ...(file.kind === 'update' && file.moveTo ? [file.moveTo] : [])]);
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  return twice === undefined ? { ok: true, files } : patchProblem(0, `it touches "${twice}" twice`);
}

interface PatchProblem {
  readonly index: number;
  readonly why: string;
}

/** True for a path that the clients read from the user's home folder. */
export const isHomePath = (path: string): boolean => /^~(?:\/|$)/.test(path);

/** The reason why Codex would open another path than the written one; null if Codex opens the written path. */
function pathProblem(path: string): string | null {
  if (path.trim() !== path) return 'the path has blanks around it';
  return isHomePath(path) ? 'the path starts with "~", which is the home folder' : null;
}

const patchProblem = (index: number, why: string): ParsedPatch => ({ ok: false, line: index + 1, why });

function addedFile(path: string, body: readonly string[]): PatchFile | PatchProblem {
  if (body.length === 0) return { index: 0, why: 'a new file needs at least one line with "+" in front' };
  const index = body.findIndex((line) => !line.startsWith('+'));
  if (index >= 0) return { index, why: 'each line of a new file has "+" in front' };
  return { kind: 'add', path, content: body.map((line) => `${line.slice(1)}\n`).join('') };
}

const deletedFile = (path: string, body: readonly string[]): PatchFile | PatchProblem =>
  body.length === 0
    ? { kind: 'delete', path }
    : { index: 0, why: 'the section of a deleted file has no further lines' };

function updatedFile(path: string, body: readonly string[]): PatchFile | PatchProblem {
  const moveTo = MOVE.exec(body[0] ?? '')?.[1] ?? null;
  const wrong = moveTo === null ? null : pathProblem(moveTo);
  if (wrong !== null) return { index: 0, why: wrong };
  const hunks: { at: string | null; old: string; new: string; lines: number }[] = [];
  let ended = false;
  for (let index = moveTo === null ? 0 : 1; index < body.length; index++) {
    const line = body[index] ?? '';
    const open = hunks.at(-1);
    if (ended) return { index, why: `nothing may follow "${END_OF_FILE}"` };
    if (line === END_OF_FILE && open && open.lines > 0) ended = true;
    else if (line === '@@' || line.startsWith('@@ '))
      hunks.push({ at: line.slice(3) || null, old: '', new: '', lines: 0 });
    else if (/^[ +-]/.test(line)) {
      const hunk = open ?? { at: null, old: '', new: '', lines: 0 };
      if (!open) hunks.push(hunk);
      const text = `${line.slice(1)}\n`;
      if (line[0] !== '+') hunk.old += text;
      if (line[0] !== '-') hunk.new += text;
      hunk.lines++;
    } else return { index, why: 'a line of a change has " ", "+" or "-" in front' };
  }
  // Several `@@` lines in a row name one location.
  const whole = hunks.filter(({ lines }) => lines > 0);
  if (hunks.at(-1)?.lines === 0) return { index: body.length - 1, why: 'nothing follows the last "@@"' };
  if (whole.length === 0 && moveTo === null) return { index: 0, why: 'it changes nothing' };
  return { kind: 'update', path, moveTo, hunks: whole.map(({ at, old, new: text }) => ({ at, old, new: text })) };
}
