import { Document, isCollection, isPair, isScalar, type Node, type Pair, visit, type YAMLSeq } from 'yaml';
import { shorten } from '../../base/text.ts';
import type { DetectedProject } from './detect-project.ts';
import type { ProposedCache, ProposedPrograms } from './proposed-programs.ts';

/** The style that prettier writes and yamllint accepts. */
const FORMAT = { lineWidth: 80, flowCollectionPadding: false };
/** Maximum length of a line with a list: two less than `lineWidth`, because `# ` may precede it. */
const LIST_WIDTH = 78;

/** True if a list of words fits on the line of its key. Prettier and the library break longer ones differently. */
function fitsOnLine(list: YAMLSeq, path: readonly unknown[]): boolean {
  if (!list.items.every(isScalar)) return false;
  const depth = path.filter(isCollection).length - 1;
  const pair = path.at(-1);
  const key = isPair(pair) ? String(pair.key) : '';
  const flow = new Document(list.toJSON(), { compat: 'yaml-1.1' });
  (flow.contents as YAMLSeq).flow = true;
  return 2 * depth + `${key}: ${flow.toString({ ...FORMAT, lineWidth: 0 }).trimEnd()}`.length <= LIST_WIDTH;
}

/** The repository's quote style, from `singleQuote` of its prettier configuration. */
interface QuoteStyle {
  readonly singleQuote?: boolean;
}

/**
 * Writes one key of hopgate.yaml: lists of words on one line if they fit, everything else in block style.
 * @param reasons a comment above each item of the value, in order
 */
function renderKey(style: QuoteStyle, key: string, value: unknown, reasons: readonly string[] = []): string {
  const doc = new Document({ [key]: value }, { compat: 'yaml-1.1' });
  visit(doc, {
    Seq: (_, list, path) => {
      list.flow = fitsOnLine(list, path);
    },
  });
  const { items = [] } = doc.get(key) as { readonly items?: readonly (Node | Pair<Node>)[] };
  for (const [at, reason] of reasons.entries()) {
    const item = items[at]!;
    ('key' in item ? item.key : item).commentBefore = ` ${commentText(reason)}`;
  }
  return doc.toString({ ...FORMAT, ...style }).trimEnd();
}

const commentOut = (text: string): string => text.replaceAll(/^/gm, '# ').replaceAll(/^# $/gm, '#');

const section = (explanation: string, setting: string): string => `${commentOut(explanation)}\n${setting}\n`;

/** The programs and folders of the operator that the sandbox shows. */
export interface ProposedConfigParts extends ProposedPrograms {
  readonly caches: readonly ProposedCache[];
  /** The files that the default masks hide without need; the key `mask` lists them as exceptions. */
  readonly shown: readonly string[];
}

const NOTHING: ProposedConfigParts = { certain: [], possible: [], caches: [], shown: [] };

/** Writes a hopgate.yaml, with a comment for each key. A key without a detected value is commented out. */
export function renderProjectConfig(
  { edit, test, deploy, git }: DetectedProject,
  { certain, possible, caches, shown }: ProposedConfigParts = NOTHING,
  style: QuoteStyle = {},
): string {
  /** A setting; as a comment with an example, if nothing was detected. */
  const setting = (key: string, value: unknown, example: unknown = null, reasons: readonly string[] = []) =>
    value === null ? commentOut(renderKey(style, key, example)) : renderKey(style, key, value, reasons);
  const because = (found: readonly { readonly because: string }[]) => found.map((command) => command.because);
  const ways = test.length === 0 ? null : test.map(({ run, report }) => ({ run: withArguments(run), report }));
  const deploys = deploy.length === 0 ? null : Object.fromEntries(deploy.map(({ name, run }) => [name, run]));
  const parts = [
    '---',
    section(
      'How hopgate works in this repository. No agent can write this file; after a\nchange, trust it with "hopgate trust".\n\n' +
        'The spec set: "default" (the one that comes with hopgate), or a folder of this\nrepository.',
      setting('specs', 'default'),
    ),
    section(
      "The files that an agent may change here. They replace the paths in the\nperipheral's spec.",
      setting('scopes', edit.length === 0 ? null : { edit }, { edit: ['src/', 'docs/'] }),
    ),
    section(
      'How this repository is tested: the only commands that the tool bash-test\nruns. "report" says where the counts come from: tap (the output), {junit:\npath} (a file that the run leaves), or none (the exit status only). A word\n"{args}" marks where an agent may add arguments.',
      setting('test', ways, [{ run: ['npm', 'test'], report: 'tap' }], because(test)),
    ),
    certain.length > 0 &&
      section('Programs of yours that commands here start; the sandbox shows them.', setting('programs', certain)),
    possible.length > 0 &&
      section(
        'Names in scripts here that are also programs of yours. If commands start them,\nadd them to "programs".',
        setting('programs', null, [...certain, ...possible]),
      ),
    caches.length > 0 &&
      section(
        'Caches: a folder of the home folder that the test runs of a session share,\nand folders of yours that every command may read.',
        setting('cache', caches),
      ),
    section(
      'How it is shipped: the only commands besides git that the deploy peripheral\nruns, by name.',
      setting('deploy', deploys, { staging: ['./deploy.sh', 'staging'] }, because(deploy)),
    ),
    section(
      'The remote and the branch that deploy pushes to. [main, "agent/*"] adds\nbranches that an agent creates.',
      setting('git', git, { remote: 'origin', branch: 'main' }),
    ),
    section(
      'The hosts that web-fetch may request; none unless listed ("*.example.com"\ncovers subdomains).',
      setting('web', { allow: [] }),
    ),
    section(
      'Files that no tool shows or changes. "default" is the list of files that\nusually hold secrets; "!" makes an exception.',
      setting('mask', shown.length === 0 ? null : ['default', ...shown], ['default', 'secrets/', '!test/fixtures/**']),
    ),
    section(
      'Further folders that the sandbox shows read-only, such as a toolchain in your\nhome folder.',
      setting('toolchains', []),
    ).trimEnd(),
    '',
  ];
  return parts.filter((part) => part !== false).join('\n');
}

/** Test runners that accept files or filters as further arguments. */
const RUNNERS =
  /^node .*--test\b|^npm test -- |^(?:cargo|go|mix|(?:pnpm|yarn|bun)(?: run)?) test\b|(?:^|[ /])(?:mvnw?|gradlew?|rake) (?:--\S+ )*(?:test|spec)\b|(?:^|[ /])(?:pytest|unittest discover|vitest run|jest|mocha|rspec|phpunit|bats)\b/;

/** Lets an agent run a part of the tests. Such a run never counts as a pass. */
const withArguments = (run: readonly string[]): readonly string[] => {
  const line = run.join(' ');
  if (line === 'npm test') return [...run, '--', '{args}'];
  return run[0] !== 'sh' && !run.includes('{args}') && RUNNERS.test(line) ? [...run, '{args}'] : run;
};

const commentText = (text: string): string => {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
  return shorten(line, 70).trim();
};
