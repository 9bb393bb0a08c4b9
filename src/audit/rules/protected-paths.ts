import { getOrInsert } from '../../base/get-or-insert.ts';
import { compileGlob } from '../../base/glob.ts';
import { BACKUP_NAME_AFFIXES } from '../../spec/policy/default-masks.ts';
import {
  GIT_CREDENTIAL_FILES,
  GIT_HEAD_FILE,
  HOPGATE_PACKAGE_PATHS,
  PROTECTED_FILE_NAMES,
} from '../../spec/policy/protected-names.ts';

const asLetters = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();

/** A name as the most lenient file system reads it: without case, trailing dots, trailing blanks and streams. */
function asRead(name: string): string {
  const bare = asLetters(name).split(':')[0]!;
  const trimmed = /[^. ]/.test(bare) ? bare.replace(/(?<![. ])[. ]+$/, '') : bare;
  return /^git~[0-9]+$/.test(trimmed) ? '.git' : trimmed;
}

/** True if no agent may write a root-relative path. */
export function isProtectedPath(path: string): boolean {
  const names = path.split('/').map(asRead);
  if (path === GIT_HEAD_FILE || path.endsWith(`/${GIT_HEAD_FILE}`)) return true;
  if (HOPGATE_PACKAGE_PATHS.some((own) => `/${names.join('/')}/`.includes(`/${own.join('/')}/`))) return true;
  return names.some((name) => PROTECTED_FILE_NAMES.includes(name));
}

type Test = (path: string) => boolean;
const tests = new WeakMap<readonly string[], Test>();

/** True if a root-relative path, or a folder above it, is masked: no tool shows it. */
export const isMaskedPath = (path: string, masks: readonly string[]): boolean =>
  getOrInsert(tests, masks, () => maskTest(masks))(path);

function maskTest(masks: readonly string[]): Test {
  const rules = masks.flatMap((mask) => {
    const text = asLetters(mask)
      .replace(/^!/, '')
      .replace(/^(\.\/)+/, '')
      .replace(/(?<!\/)\/+$/, '');
    const glob = text.includes('/') ? text.replace(/^\/+/, '') : `**/${text}`;
    return text === '' ? [] : [{ hides: !mask.startsWith('!'), matches: compileGlob(glob) }];
  });
  /** The last matching mask decides. The folders above the path are judged separately. */
  const isHiddenPath = (names: readonly string[]): boolean => {
    const written = names.map((name) => name.toLowerCase());
    const read = names.map(asRead);
    const forms = [written, ...copiedFrom(read.at(-1)!).map((last) => [...read.slice(0, -1), last])];
    const deciding = rules.findLast(({ hides, matches }) =>
      hides ? forms.some(matches) : written.some((_, index) => matches(written.slice(0, index + 1))),
    );
    return deciding?.hides === true;
  };
  const judge: Test = (path) => {
    const names = path.split('/');
    const read = names.map(asRead);
    if (copiedFrom(read.at(-1)!).some((last) => holdsGitCredentials([...read.slice(0, -1), last]))) return true;
    return names.some((_, index) => isHiddenPath(names.slice(0, index + 1)));
  };
  const judged = new Map<string, boolean>();
  return (path) => {
    if (path === '') return false;
    let isHidden = judged.get(path);
    if (isHidden === undefined) {
      if (judged.size >= REMEMBERED) judged.clear();
      isHidden = judge(path);
      judged.set(path, isHidden);
    }
    return isHidden;
  };
}

/** Size of the cache: sessions read the same files often. */
const REMEMBERED = 4096;

/** The name itself, and the names of which it may be a backup, or a backup of a backup. */
function copiedFrom(name: string): readonly string[] {
  const strip = (copy: string): string[] =>
    BACKUP_NAME_AFFIXES.flatMap(([before, after]) => {
      const inner = copy.slice(before.length, copy.length - after.length);
      return inner !== '' && copy === `${before}${inner}${after}` ? [inner] : [];
    });
  const once = strip(name);
  return [name, ...once, ...once.flatMap(strip)];
}

/**
 * True for a file in which git keeps the tokens of its remotes.
 * @param names the path's names, as {@link asRead} returns them
 */
function holdsGitCredentials(names: readonly string[]): boolean {
  const last = names.at(-1)!;
  if (last === GIT_CREDENTIAL_FILES.anywhere) return true;
  return GIT_CREDENTIAL_FILES.inGit.some((name) => name === last) && names.slice(0, -1).includes('.git');
}
