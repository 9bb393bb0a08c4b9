/** One file of a patch, as Codex's `apply_patch` takes it. */
export type PatchChange =
  | { readonly kind: 'add'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly moveTo: string | null;
      readonly hunks: readonly PatchHunk[];
    };

/** Lines that take the place of others. Without an end of line at their end. */
export interface PatchHunk {
  readonly old: string;
  readonly new: string;
}

export type ParsedPatch =
  | { readonly ok: true; readonly changes: readonly PatchChange[] }
  | { readonly ok: false; readonly line: number; readonly why: string };

const HEADER = /^\*\*\* (Add|Delete|Update) File: (\S(?:.*\S)?)$/;

/**
 * What a patch touches. Stricter than Codex itself: a line that does not have exactly one meaning is a problem, so that no file is changed that
 * is not among the changes.
 */
export function parsePatch(text: string): ParsedPatch {
  const lines = text.replace(/\n+$/, '').split('\n');
  if (lines[0] !== '*** Begin Patch') return problem(0, 'it does not begin with "*** Begin Patch"');
  if (lines.at(-1) !== '*** End Patch') return problem(lines.length - 1, 'it does not end with "*** End Patch"');
  const changes: PatchChange[] = [];
  const end = lines.length - 1;
  let at = 1;
  while (at < end) {
    const header = HEADER.exec(lines[at] ?? '');
    if (!header) return problem(at, 'it is no "*** Add File:", "*** Update File:" or "*** Delete File:"');
    const [, what, path = ''] = header;
    at++;
    if (what === 'Delete') changes.push({ kind: 'delete', path });
    else if (what === 'Add') {
      const from = at;
      while (at < end && lines[at]?.startsWith('+')) at++;
      changes.push({
        kind: 'add',
        path,
        content: lines
          .slice(from, at)
          .map((line) => `${line.slice(1)}\n`)
          .join(''),
      });
    } else {
      const moveTo = /^\*\*\* Move to: (\S(?:.*\S)?)$/.exec(lines[at] ?? '')?.[1] ?? null;
      if (moveTo !== null) at++;
      const from = at;
      while (at < end && isOfHunk(lines[at] ?? '')) at++;
      const hunks = hunksOf(lines.slice(from, at));
      if (hunks === null) return problem(from, 'an update needs hunks, each of which changes something');
      changes.push({ kind: 'update', path, moveTo, hunks });
    }
  }
  return changes.length === 0 ? problem(0, 'it changes nothing') : { ok: true, changes };
}

const problem = (index: number, why: string): ParsedPatch => ({ ok: false, line: index + 1, why });

const isOfHunk = (line: string): boolean =>
  line === '' || /^[ +-]/.test(line) || /^@@(?: |$)/.test(line) || line === '*** End of File';

function hunksOf(lines: readonly string[]): readonly PatchHunk[] | null {
  const hunks: { old: string[]; new: string[] }[] = [];
  let open: (typeof hunks)[number] | null = null;
  for (const line of lines) {
    if (line.startsWith('@@')) {
      open = null;
      continue;
    }
    if (line === '*** End of File') {
      open = null;
      continue;
    }
    if (open === null) {
      open = { old: [], new: [] };
      hunks.push(open);
    }
    const rest = line.slice(1);
    if (!line.startsWith('+')) open.old.push(rest);
    if (!line.startsWith('-')) open.new.push(rest);
  }
  const joined = hunks.map((hunk) => ({ old: hunk.old.join('\n'), new: hunk.new.join('\n') }));
  return joined.length > 0 && joined.every((hunk) => hunk.old !== hunk.new) ? joined : null;
}
