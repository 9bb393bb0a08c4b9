import { posix } from 'node:path';
import { type Command, parse, type Redirection, type Word } from 'unbash';
import { isObject, textOf } from '../base/json.ts';
import { splitWords } from '../base/text.ts';
import type { Fields } from '../spec/types.ts';
import { type ForeignAct, SHELL_ACT_NAME } from './read-trajectory.ts';

export interface ReplacementCall {
  readonly tool: string;
  readonly args: Fields;
}

/** The calls of hopgate's tools that replace an act, in order; `submit` if the act ends the run with its result. */
type ActReplacement =
  | { readonly kind: 'calls'; readonly calls: readonly ReplacementCall[] }
  | { readonly kind: 'submit' };

const NO_CALLS: ActReplacement = { kind: 'calls', calls: [] };

/** Matches commands that run tests, also behind `python -m`, `npx`, `uv run` and the like. */
const TESTERS =
  /^(?:pytest|py\.test|tox|nox|nosetests|unittest|jest|vitest|mocha|ava|phpunit|rspec|ctest|runtests\.py)$/;
const TEST_TASKS = /^(?:test|tests|check|t)(?::.*)?$/;
const RUNNERS = ['npm', 'yarn', 'pnpm', 'bun', 'make', 'cargo', 'go', 'mvn', 'gradle', './gradlew', 'dotnet', 'rake'];
const PACKAGE_TOOLS = splitWords('pip pip3 apt apt-get conda npm yarn pnpm gem cargo go uv brew');
const INSTALLS = ['install', 'add', 'get', 'sync', 'ci'];
const FETCHERS = ['curl', 'wget'];

/** Commands of SWE-agent's shell that only show files. */
const VIEW_COMMANDS = splitWords('open goto scroll_up scroll_down search_dir search_file find_file filemap view');

/**
 * Maps an act of another program's agent to calls of hopgate's tools, by the act's name and the text of its command.
 * This is an estimate, good enough for a replay; the gate never judges a command by its text.
 * @param folder the folder of relative paths; paths below it become relative to it
 * @param open the file that an editor command without a path changes
 */
export function actToCalls(act: ForeignAct, folder: string, open: string | null): ActReplacement {
  const name = act.name
    .split(/[._]{2}|\./)
    .at(-1)!
    .toLowerCase();
  const { input } = act;
  const command = ['command', 'cmd', 'keystrokes', 'script', 'code']
    .map((key) => input[key])
    .find((one) => one != null);
  const path = ['path', 'file_path', 'filename', 'file', 'absolute_path']
    .map((key) => textOf(input[key]))
    .find((p) => p);
  if (/^(?:submit|finish|complete|mark_task_complete|exit_forfeit)/.test(name)) return { kind: 'submit' };
  if (path) return fileAct(`${name} ${textOf(command) ?? ''}`, relativeTo(path, folder));
  if (/grep|search|find|glob|^ls$|list/.test(name)) return calls({ tool: 'glob', args: { pattern: '**' } });
  const line = Array.isArray(command) ? command.join(' ') : textOf(command);
  if (line !== null) return shellAct(line.trim(), folder, open);
  const url = textOf(input['url']);
  return url === null ? NO_CALLS : calls({ tool: 'web-fetch', args: { url } });
}

const calls = (...all: readonly ReplacementCall[]): ActReplacement => ({ kind: 'calls', calls: all });
const read = (path: string): ReplacementCall => ({ tool: 'read', args: { path } });
const write = (path: string): ReplacementCall => ({ tool: 'write', args: { path, content: '' } });

function fileAct(verb: string, path: string): ActReplacement {
  return calls(
    /create|write|replace|edit|insert|undo|patch|delete|append|update/.test(verb) ? write(path) : read(path),
  );
}

/** Makes a path relative to the folder; a path elsewhere stays unchanged. */
function relativeTo(path: string, folder: string): string {
  const full = posix.resolve(folder, path);
  const relative = posix.relative(folder, full) || '.';
  return relative === '..' || relative.startsWith('../') ? full : relative;
}

function shellAct(line: string, folder: string, open: string | null): ActReplacement {
  if (/^submit\b|COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT/.test(line)) return { kind: 'submit' };
  const [first = '', second, third] = line.split(/\s+/).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
  if (first === 'create' && second) return calls(write(relativeTo(second, folder)));
  if (/^(?:edit|insert|append)$/.test(first)) return open === null ? NO_CALLS : calls(write(relativeTo(open, folder)));
  if (first === 'open' && second) return calls(read(relativeTo(second, folder)));
  if (VIEW_COMMANDS.includes(first)) return NO_CALLS;
  if (first === 'str_replace_editor' && second && third) return fileAct(second, relativeTo(third, folder));
  const found: ReplacementCall[] = [];
  let at = folder;
  for (const command of commandsIn(parse(line))) {
    const words = [command.name, ...command.suffix].filter((one): one is Word => one?.type === 'Word');
    const [program = '', ...args] = words.map(({ value }) => value);
    if (program === 'cd' && args[0] !== undefined) at = posix.resolve(at, args[0]);
    for (const path of [...writtenBy(program, args), ...redirectedFiles(command.redirects)])
      found.push(write(relativeTo(posix.resolve(at, path), folder)));
    const special = specialCall(program, args);
    if (special !== null) found.push(special);
  }
  const kinds = new Map(found.map((call) => [JSON.stringify(call), call]));
  return calls(...(kinds.size > 0 ? kinds.values() : [{ tool: 'bash-readonly', args: { command: line } }]));
}

/** The simple commands in a parsed shell script, nested ones included, in order. */
function commandsIn(node: unknown): readonly Command[] {
  if (Array.isArray(node)) return node.flatMap(commandsIn);
  if (!isObject(node)) return [];
  const inner = Object.values(node).flatMap(commandsIn);
  return node['type'] === 'Command' ? [node as unknown as Command, ...inner] : inner;
}

function redirectedFiles(redirects: readonly Redirection[]): readonly string[] {
  return redirects
    .filter((one) => one.type === 'Redirect' && one.operator.includes('>') && one.operator !== '>&')
    .map((one) => (one.type === 'Redirect' ? (one.target?.value ?? '') : ''))
    .filter((path) => path !== '' && !path.startsWith('/dev/'));
}

/** The files that a shell command changes, judged by its words. */
function writtenBy(program: string, args: readonly string[]): readonly string[] {
  const paths = args.filter((one) => !one.startsWith('-'));
  switch (program) {
    case 'sed':
    case 'perl':
      return args.some((one) => /^-[a-z]*i/.test(one) || one === '--in-place') ? paths.slice(1) : [];
    case 'tee':
    case 'touch':
    case 'rm':
    case 'rmdir':
    case 'truncate':
    case 'mv':
      return paths;
    case 'cp':
    case 'ln':
      return paths.slice(-1);
    default:
      return [];
  }
}

/** The call for a command that runs tests, installs, releases or fetches a page; null for any other command. */
function specialCall(program: string, args: readonly string[]): ReplacementCall | null {
  const rest = args.filter((one) => !one.startsWith('-'));
  const isRunner = RUNNERS.includes(program);
  const named = [program, ...rest.slice(0, 3)].map((word) => posix.basename(word));
  if (named.some((word) => TESTERS.test(word))) return { tool: 'bash-test', args: {} };
  if (/^python/.test(program) && args[0] === 'manage.py' && args[1] === 'test') return { tool: 'bash-test', args: {} };
  if (isRunner && rest.slice(0, 2).some((word) => TEST_TASKS.test(word))) return { tool: 'bash-test', args: {} };
  const installer = /^python/.test(program) && args[0] === '-m' ? args[1] : program;
  if (PACKAGE_TOOLS.includes(installer ?? '') && rest.some((word) => INSTALLS.includes(word)))
    return { tool: 'install', args: {} };
  if (program === 'git' && (rest[0] === 'commit' || rest[0] === 'push'))
    return { tool: 'bash-git', args: { sub: rest[0], args: rest[0] === 'push' ? [] : ['-m', 'submitted'] } };
  const url = FETCHERS.includes(program) ? rest.find((word) => /^https?:/.test(word)) : undefined;
  return url === undefined ? null : { tool: 'web-fetch', args: { url } };
}

export function fileOpenedByAct({ name, input }: ForeignAct): string | null {
  const line = name === SHELL_ACT_NAME ? textOf(input['command']) : null;
  return line === null ? null : (/^(?:open|create)\s+"?([^\s"]+)/.exec(line)?.[1] ?? null);
}
