import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { shorten } from '../../base/text.ts';
import type { Json, TestReport } from '../../spec/types.ts';
import type { DetectedProject } from './project.ts';

/**
 * Writes a value on one line. Words that YAML reads back unchanged are plain. Everything else is quoted as in JSON,
 * which is also YAML.
 */
function flow(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, inner]) => `${flow(key)}: ${flow(inner)}`)
      .join(', ')}}`;
  return typeof value === 'string' && isPlain(value) ? value : JSON.stringify(value);
}

const isPlain = (text: string): boolean =>
  /^[\w./@%+=:-]+$/.test(text) && !text.endsWith(':') && isDeepStrictEqual(parse(`[${text}]`), [text]);

const testLine = (run: readonly string[], report: TestReport): string =>
  flow({ run: [...run], report: report as Json });

/**
 * Writes a hopgate.yaml for the findings, with a comment that explains each key. A missing finding becomes a comment to
 * fill in.
 */
export function renderConfig({ edit, test, deploy, git }: DetectedProject, programs: readonly string[] = []): string {
  const entries = <T>(found: readonly T[], empty: string, line: (item: T) => string): readonly string[] =>
    found.length === 0 ? [`# ${empty}`] : found.map(line);
  return `${[
    '# How hopgate works in this repository. No agent can write this file; after a change, accept it with "hopgate trust".',
    '',
    '# The spec set: "default" (the one that comes with hopgate), or a folder of this repository.',
    'specs: default',
    '',
    '# What each peripheral may write here, instead of the paths in its spec.',
    ...(edit.length === 0 ? ['# scopes: {edit: [src/, docs/]}'] : ['scopes:', `  edit: ${flow([...edit])}`]),
    '',
    '# How this repository is tested: the only commands that bash-test runs. report says where the counts come from: tap (the output),',
    '# {junit: path} (a file that the run leaves), or none (the exit status only). A word "{args}" marks where an agent may add arguments.',
    ...(test.length === 0 ? [] : ['test:']),
    ...entries(
      test,
      'test: [{run: [npm, test], report: tap}]',
      (it) => `  - ${testLine(it.run, it.report)} # ${comment(it.because)}`,
    ),
    '',
    ...(programs.length === 0
      ? []
      : [
          '# Programs of yours that scripts here seem to start. The sandbox shows them once this line counts.',
          `# programs: ${flow([...programs])}`,
          '',
        ]),
    '# How it is shipped: the only commands besides git that the deploy peripheral runs, by name.',
    ...(deploy.length === 0 ? [] : ['deploy:']),
    ...entries(
      deploy,
      'deploy: {staging: [./deploy.sh, staging]}',
      (it) => `  ${flow(it.name)}: ${flow([...it.run])} # ${comment(it.because)}`,
    ),
    '',
    '# Where deploy pushes.',
    git === null ? '# git: {remote: origin, branch: main}' : `git: ${flow(git)}`,
    '',
    '# Hosts that web-fetch may ask; none are allowed unless listed ("*.example.com" covers subdomains).',
    'web: {allow: []}',
    '',
    '# Files that no tool shows or changes: by default those that usually hold secrets ("default" stands for that list).',
    '# mask: [default, secrets/, "!test/fixtures/**"]',
    '',
    '# Further folders that the sandbox shows read-only, such as a toolchain under your home folder.',
    'toolchains: []',
  ].join('\n')}\n`;
}

/** Shortens a repository's own words to one short line for a comment. */
const comment = (text: string): string => {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
  return shorten(line, 100);
};
