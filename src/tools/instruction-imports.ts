import { homedir } from 'node:os';
import { isAbsolute, join, posix, relative, resolve } from 'node:path';
import { realpathIfAny } from '../base/files.ts';
import { compileGlob } from '../base/glob.ts';
import { isWithin } from '../base/paths.ts';
import { isMasked } from '../gate/scope/masks.ts';
import type { Grant } from '../ports/tool-backend.ts';
import { INSTRUCTION_FILES } from '../spec/policy/instruction-files.ts';

const globs = INSTRUCTION_FILES.map((pattern) => compileGlob(`**/${pattern.toLowerCase()}`));

/** True if client programs of agents read the file (root-relative path) as instructions. */
export const isInstructionFile = (path: string): boolean => {
  const names = path.toLowerCase().split('/');
  return globs.some((matches) => matches(names));
};

/** Larger files, except instructions, are assumed not to be imported as text. */
const MAX_IMPORTED = 4 << 20;

/**
 * Explains why a text may not become the content of a file, because of what it imports; null if it may. A client
 * program shows the target of `@../.env` in an instruction file to the model, regardless of the masks, and follows
 * imports from there to other files. So no file may import a masked file, and no instruction file may import a file
 * outside the root.
 *
 * @param path root-relative
 */
export function importProblem(
  { root, config }: Pick<Grant, 'root' | 'config'>,
  path: string,
  text: string,
): string | null {
  const instructs = isInstructionFile(path);
  if (!instructs && text.length > MAX_IMPORTED) return null;
  const targets = importsOf(text);
  if (targets === null) return `it holds more than ${MAX_WORDS} imports`;
  for (const target of targets) {
    const why = targetProblem(root, config.mask, path, target, instructs);
    if (why !== null) return `it imports "@${target}", which ${why}`;
  }
  return null;
}

function targetProblem(
  root: string,
  masks: readonly string[],
  path: string,
  target: string,
  instructs: boolean,
): string | null {
  const expanded = /^~(?:\/|$)/.test(target) ? join(homedir(), target.slice(1)) : target;
  const place = isAbsolute(expanded) ? posix.normalize(expanded) : resolve(root, posix.dirname(path), expanded);
  const real = realpathIfAny(place);
  // Instructions are read again later, when the target may exist; in other files, most words with an @ name no file.
  if (!instructs && real === null) return null;
  const places = real === null ? [place] : [place, real];
  if (places.some((each) => isWithin(root, each) && isMasked(relative(root, each), masks))) return 'is masked';
  return places.some((each) => !isWithin(root, each)) ? 'lies outside the root' : null;
}

/** Matches the words of possible imports; longer words are not paths. */
const WORD = /(?<![^\s([<>*_-])(?:@|#file:)(?=((?:[^\s\\]|\\[^\n]){1,1024}))/gu;
const MAX_WORDS = 20_000;

/**
 * Targets that some program might read as an import, with and without trailing punctuation; null if there are too many.
 */
function importsOf(text: string): ReadonlySet<string> | null {
  const found = new Set<string>();
  for (const [, word] of text.matchAll(WORD)) {
    const target = word!.replace(/^["'`<]/, '').replaceAll(/\\(.)/g, '$1');
    for (const end of [/$/, /#.*$/, /["'`<>)\]},;:!?*_|].*$/, /["'`<>)\]},.;:!?*_|]+$/])
      found.add(target.replace(end, ''));
    if (found.size > MAX_WORDS) return null;
  }
  found.delete('');
  return found;
}
