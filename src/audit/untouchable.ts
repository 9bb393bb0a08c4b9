import picomatch from 'picomatch';
import { GIT_CREDENTIALS, OWN_PACKAGES, PROTECTED_NAMES, REPOSITORY_MARK } from '../spec/policy/protected-names.ts';

/** A name as a file system may read it that folds case, drops trailing dots and blanks, and knows streams and short names. */
function asRead(name: string): string {
  const bare = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .split(':')[0]!;
  const trimmed = /[^. ]/.test(bare) ? bare.replace(/[. ]+$/, '') : bare;
  return /^git~[0-9]+$/.test(trimmed) ? '.git' : trimmed;
}

/** Whether a root-relative path steers something that an agent must not steer. */
export function steers(path: string): boolean {
  const names = path.split('/').map(asRead);
  if (path === REPOSITORY_MARK || path.endsWith(`/${REPOSITORY_MARK}`)) return true;
  if (OWN_PACKAGES.some((own) => `/${names.join('/')}/`.includes(`/${own.join('/')}/`))) return true;
  return names.some((name) => PROTECTED_NAMES.includes(name));
}

type Test = (path: string) => boolean;
const tests = new WeakMap<readonly string[], Test>();

/** Whether a root-relative path is masked, or lies in a folder that is: no tool shows it. */
export function hidden(path: string, masks: readonly string[]): boolean {
  let test = tests.get(masks);
  if (!test) {
    test = maskTest(masks);
    tests.set(masks, test);
  }
  return test(path);
}

function maskTest(masks: readonly string[]): Test {
  const options = { dot: true, nocase: true, nonegate: true };
  const bare = masks.map((mask) => mask.replace(/^(\.\/)+/, '').replace(/\/+$/, '')).filter((mask) => mask !== '');
  const byName = bare.filter((mask) => !mask.includes('/'));
  const byPath = bare.filter((mask) => mask.includes('/')).map((mask) => mask.replace(/^\/+/, ''));
  const matchesName = byName.length > 0 ? picomatch(byName, options) : () => false;
  const matchesPath = byPath.length > 0 ? picomatch(byPath, options) : () => false;
  const judge: Test = (path) => {
    const names = path.split('/');
    if (keepsKeys(names) || names.some((name) => matchesName(name))) return true;
    return byPath.length > 0 && names.some((_, index) => matchesPath(names.slice(0, index + 1).join('/')));
  };
  const judged = new Map<string, boolean>();
  return (path) => {
    if (path === '') return false;
    let known = judged.get(path);
    if (known === undefined) {
      if (judged.size >= REMEMBERED) judged.clear();
      known = judge(path);
      judged.set(path, known);
    }
    return known;
  };
}

/** Sessions come back to the same files. */
const REMEMBERED = 4096;

/** Where git keeps the tokens of a remote. */
function keepsKeys(names: readonly string[]): boolean {
  const read = names.map(asRead);
  const last = read.at(-1)!;
  if (last === GIT_CREDENTIALS.anywhere) return true;
  return GIT_CREDENTIALS.inGit.some((name) => name === last) && read.slice(0, -1).includes('.git');
}
