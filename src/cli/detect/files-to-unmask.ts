import { compileMasks } from '../../gate/scope/masks.ts';
import { DEFAULT_MASKS } from '../../spec/policy/default-masks.ts';
import { isTestFile } from '../../spec/test-files.ts';
import type { ProjectFileReader } from './project-file-reader.ts';

/** A harmless line of an .npmrc: it contains no account, password or key, and a token only as a variable. */
const NPM_LINE =
  /^\s*(?:[;#].*|\S+:_authToken\s*=\s*\$\{\w+\}\s*|(?!.*(?:auth|token|passw|user|email|cert|key|\$\{|\/\/.*@))[\w@:.-]+(?:\[\])?\s*(?:=.*)?)?$/i;
const PUBLIC_BLOCK = /-----BEGIN (?:PGP PUBLIC KEY BLOCK|CERTIFICATE|(?:\w+ )?PUBLIC KEY)-----/;
/** Maximum number of exceptions; with more, a person should choose a glob. */
const MAX_EXCEPTIONS = 20;

/**
 * Finds files that the default masks hide without need: git tracks them, and their text shows no secret. These are an
 * .npmrc without an account, public keys and certificates, and settings of tests (`__tests__/env/.env`).
 * @param tracked the root-relative paths that git tracks
 */
export function findFilesToUnmask(tree: ProjectFileReader, tracked: readonly string[]): readonly string[] {
  const harmless = tracked.filter(compileMasks(DEFAULT_MASKS)).filter((path) => isHarmless(path, tree));
  return harmless.slice(0, MAX_EXCEPTIONS).filter(isPlain);
}

/** True if a path, used as a pattern, matches only itself. */
const isPlain = (path: string): boolean => /^[\w./@+ -]+$/.test(path);

function isHarmless(path: string, tree: ProjectFileReader): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^\.env(?:\.\w+)?$/.test(name))
    return isTestFile(path) || /(?:^|\/)(?:__)?(?:fixtures|testdata)(?:__)?\//.test(path);
  const text = tree.read(path) ?? '';
  if (name === '.npmrc') return text.split('\n').every((line) => NPM_LINE.test(line.replace(/\r$/, '')));
  return PUBLIC_BLOCK.test(text) && !/PRIVATE|SECRET/.test(text);
}

/** The pattern for `mask` that shows a file: `!a/.npmrc`. A name without a slash would apply to every folder. */
export const unmaskPatternOf = (path: string): string => (path.includes('/') ? `!${path}` : `!/${path}`);
