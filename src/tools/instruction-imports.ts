import { statSync } from 'node:fs';
import { join, posix, relative, resolve } from 'node:path';
import { listFolderEntries, realpathIfAny } from '../base/files.ts';
import { compileGlobAlternatives } from '../base/glob.ts';
import { isPathWithin } from '../base/paths.ts';
import { readRegularFile, UnreadableFile } from '../base/read-file.ts';
import { homeFolder } from '../base/user-folders.ts';
import { isMaskedByConfig } from '../gate/scope/masks.ts';
import type { CallEnvelope } from '../ports/tool-backend.ts';
import { INSTRUCTION_FILES } from '../spec/policy/instruction-files.ts';

const instructs = compileGlobAlternatives(INSTRUCTION_FILES.map((pattern) => `**/${pattern.toLowerCase()}`));

type ImportContext = Pick<CallEnvelope, 'root' | 'config'>;

/** True if client programs of agents read the file (root-relative path) as instructions. */
export const isInstructionFile = (path: string): boolean => instructs(path.toLowerCase().split('/'));

/** Larger files are not searched, unless they are instructions; no program is assumed to import them as text. */
const MAX_IMPORTED = 4 << 20;

/**
 * Explains why a text may not become the content of a file, because of what it imports; null if it may. A client
 * program shows the target of `@../.env` in an instruction file to the model, regardless of the masks, and follows
 * imports from there to other files. So no file may import a masked file, and no instruction file may import a file
 * outside the root.
 * @param path root-relative
 */
export function importProblemOfText(envelope: ImportContext, path: string, text: string): string | null {
  const instructs = isInstructionFile(path);
  if (!instructs && text.length > MAX_IMPORTED) return null;
  const targets = importsOf(text);
  if (targets === null) return `it holds more than ${MAX_WORDS} imports`;
  for (const target of targets) {
    const why = targetProblem(envelope, path, target, instructs);
    if (why !== null) return `it imports "@${target}", which ${why}`;
  }
  return null;
}

/** The absolute path that an import names, and its real path (null if there is no such file). */
function targetOf(
  root: string,
  path: string,
  target: string,
): { readonly named: string; readonly real: string | null } {
  const file = resolveTarget(root, posix.dirname(path), target);
  return { named: file, real: realpathIfAny(file) };
}

const resolveTarget = (root: string, folder: string, target: string): string =>
  resolve(root, folder, /^~(?:\/|$)/.test(target) ? join(homeFolder(process.env), target.slice(1)) : target);

function targetProblem(envelope: ImportContext, path: string, target: string, instructs: boolean): string | null {
  const { named: file, real } = targetOf(envelope.root, path, target);
  // In instructions a missing target counts, because it may exist later. Elsewhere most words after @ name no file.
  return !instructs && real === null ? null : readProblem(envelope, [file, real ?? file]);
}

/**
 * The reason why no instruction file may show a file; null if it may. `imports` allows a path, but no link's target.
 */
function readProblem({ root, config: { mask, imports = [] } }: ImportContext, files: readonly string[]): string | null {
  const allowed = imports.map((path) => resolveTarget(root, '', path));
  const checked = files.filter((file) => !allowed.includes(file));
  if (checked.some((each) => isPathWithin(root, each) && isMaskedByConfig(relative(root, each), mask)))
    return 'is masked';
  return checked.some((each) => !isPathWithin(root, each)) ? 'lies outside the root' : null;
}

/** Claude Code expands imports and reads further instruction files. Codex only follows links. */
export type InstructionReader = 'claude-code' | 'codex';

/** A file whose content a client program shows its model without a call of the session. */
interface ShownFile {
  readonly message: string;
  readonly remedy: string;
}

/**
 * Finds a masked or outside file that a client program shows its model, because an existing instruction file imports it
 * or is a link to it; null if there is none.
 * @param above only the folders above this root-relative path are searched; if it is left out, all folders
 */
export function findInstructionProblem(
  envelope: ImportContext,
  client: InstructionReader,
  above?: string,
): ShownFile | null {
  const { root } = envelope;
  const expands = client === 'claude-code';
  const queue = [...findInstructionFiles(root, expands, above)];
  const seen = new Set(queue);
  const add = (file: string) => {
    const path = relative(root, file);
    if (isPathWithin(root, file) && !seen.has(path)) queue.push(path);
    seen.add(path);
  };
  const shownFile = (path: string, does: string, file: string, why: string): ShownFile => ({
    message: `${path} ${does}, which ${why}, and the client program would show it to its model`,
    remedy: `Remove that from ${path}; if the model is to read it, add "${isPathWithin(root, file) ? relative(root, file) : file}" to "imports" in hopgate.yaml.`,
  });
  for (const path of queue) {
    const absolutePath = join(root, path);
    const real = realpathIfAny(absolutePath);
    if (real === null) continue;
    const linked = real === absolutePath ? null : readProblem(envelope, [real]);
    if (linked !== null) return shownFile(path, `is a link to ${real}`, real, linked);
    const targets = expands ? targetsIn(absolutePath) : [];
    if (targets === null)
      return { message: `${path} is too large to be searched for imports`, remedy: 'Make it smaller.' };
    add(real);
    for (const target of targets) {
      const found = targetOf(root, path, target);
      if (found.real === null || !isFile(found.real)) continue;
      const why = readProblem(envelope, [found.named, found.real]);
      if (why !== null) return shownFile(path, `imports "@${target}"`, found.named, why);
      add(found.named);
    }
  }
  return null;
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Returns the imports of a file; null if they cannot be determined. An unreadable file imports nothing. */
function targetsIn(file: string): Iterable<string> | null {
  try {
    return importsOf(readRegularFile(file, MAX_IMPORTED).toString('utf8'));
  } catch (error) {
    return error instanceof UnreadableFile && isFile(file) ? null : [];
  }
}

/** Installed packages and git's own files are left out where all folders are searched. */
const SKIPPED = new Set(['.git', 'node_modules']);

/**
 * Root-relative paths of instruction files. A client also reads the instruction files in `.claude` folders, and follows
 * links.
 */
export function findInstructionFiles(root: string, expands: boolean, near?: string): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const search = (folder: string, deep: boolean): void => {
    const real = realpathIfAny(join(root, folder));
    if (real === null || seen.has(real)) return;
    seen.add(real);
    const own = /(?:^|\/)\.claude(?:\/|$)/i.test(folder);
    for (const entry of listFolderEntries(real)) {
      const path = posix.join(folder, entry.name);
      const inClaude = expands && (own || entry.name.toLowerCase() === '.claude');
      const isFolder = entry.isDirectory() || (inClaude && entry.isSymbolicLink() && !isFile(join(root, path)));
      if (isFolder && (inClaude || entry.name === '.github' || (deep && !SKIPPED.has(entry.name)))) search(path, deep);
      else if (!isFolder && (isInstructionFile(path) || (inClaude && /\.md$/i.test(path)))) found.push(path);
    }
  };
  if (near === undefined) search('', true);
  else for (const [depth] of near.split('/').entries()) search(near.split('/').slice(0, depth).join('/'), false);
  return found;
}

/** Matches `@` or `#file:` and captures the next word, up to 1,024 characters. A longer word is not a path. */
const WORD = /(?<![^\s([<>*_-])(?:@|#file:)(?=((?:[^\s\\]|\\[^\n]){1,1024}))/gu;
const MAX_WORDS = 20_000;

/** The files that a client might include for `@file` in a text, with and without punctuation; null if too many. */
function importsOf(text: string): ReadonlySet<string> | null {
  const found = new Set<string>();
  let words = 0;
  for (const [, word] of text.matchAll(WORD)) {
    if (++words > MAX_WORDS) return null;
    const target = word!.replace(/^["'`<]/, '').replaceAll(/\\(.)/g, '$1');
    for (const end of [/$/, /#.*/s, /["'`<>)\]},;:!?*_|].*/s, /(?<!["'`<>)\]},.;:!?*_|])["'`<>)\]},.;:!?*_|]+$/])
      found.add(target.replace(end, ''));
  }
  found.delete('');
  return found;
}
