import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'smol-toml';
import { fieldsOf } from '../../base/json.ts';
import { errorText, excerpt, splitWords } from '../../base/text.ts';
import { codexFolder, type Env } from '../../base/user-folders.ts';
import { valueOr } from '../../base/value-or.ts';
import type { UserRuleDecision } from '../mcp/mcp-options.ts';

/** A user rule against a command: it must not run, or a person must approve it first. */
type CommandRuling = Omit<UserRuleDecision, 'command'>;

/** Timeout for Codex to judge one command, in milliseconds. */
const WAIT_MS = 10_000;

/**
 * Applies the user's rules for Codex's own shell (`rules/*.rules`) to a command that hopgate runs instead; null if no
 * rule is against it. Codex judges the command as a list of words (`codex execpolicy check`). For a command that is
 * more than a list of words, a person is asked if any rule may deny or ask.
 */
export async function judgeByUserRules(
  command: string,
  codex: () => string,
  root: string,
  env: Env,
): Promise<CommandRuling | null> {
  const folders = [codexFolder(env), join(root, '.codex'), '/etc/codex'];
  try {
    // `codex execpolicy check` cannot read the rules of the machine's administrator from any file.
    if (tableIn('/etc/codex/requirements.toml')['rules'] !== undefined)
      return { decision: 'prompt', why: 'hopgate cannot read the rules of the administrator of this machine' };
    const { files, allowsAll } = rulesIn(folders);
    if (allowsAll) return null;
    const words = plainWords(command);
    const ruled =
      words === null
        ? {
            decision: 'prompt' as const,
            why: 'Codex can apply your rules only to one command of plain words, without pipes, lists and expansions',
          }
        : await checkByCodex(codex(), files, words);
    return ruled?.decision === 'prompt' && folders.some(neverAsks) ? { ...ruled, decision: 'forbidden' } : ruled;
  } catch (error) {
    return { decision: 'prompt', why: `Codex cannot apply your rules: ${excerpt(errorText(error), 300)}` };
  }
}

async function checkByCodex(
  codex: string,
  files: readonly string[],
  words: readonly string[],
): Promise<CommandRuling | null> {
  const rules = files.flatMap((file) => ['--rules', file]);
  const args = ['execpolicy', 'check', '--resolve-host-executables', ...rules, '--', ...words];
  const { stdout } = await promisify(execFile)(codex, args, { timeout: WAIT_MS });
  const { decision, matchedRules } = fieldsOf(JSON.parse(stdout));
  if (!Array.isArray(matchedRules)) throw new Error('its answer has no "matchedRules"');
  if (decision === 'allow' || (decision === undefined && matchedRules.length === 0)) return null;
  if (decision !== 'forbidden' && decision !== 'prompt') throw new Error(`unknown decision "${String(decision)}"`);
  const reasons = matchedRules.flatMap((rule) => {
    const match = fieldsOf(fieldsOf(rule)['prefixRuleMatch']);
    return match['decision'] === decision && typeof match['justification'] === 'string' ? [match['justification']] : [];
  });
  return { decision, why: reasons.join('; ') || `your rules for Codex say ${decision}` };
}

/** The rule files. `allowsAll` is true if each line is an allow rule in the form that Codex itself writes. */
function rulesIn(folders: readonly string[]): { readonly files: readonly string[]; readonly allowsAll: boolean } {
  const files = folders.flatMap((folder) =>
    (unlessMissing(() => readdirSync(join(folder, 'rules'))) ?? [])
      .filter((name) => name.endsWith('.rules'))
      .map((name) => join(folder, 'rules', name)),
  );
  const allowsAll = files.every((file) => readFileSync(file, 'utf8').split('\n').every(isAllowRule));
  return { files, allowsAll };
}

const isAllowRule = (line: string): boolean =>
  /^\s*(#.*)?$/.test(line) || /^prefix_rule\(pattern=\[[^()]*\], decision="allow"\)\s*$/.test(line);

/** True if Codex's configuration turns the questions of its rules into refusals. */
function neverAsks(folder: string): boolean {
  const policy = tableIn(join(folder, 'config.toml'))['approval_policy'];
  return policy === 'never' || fieldsOf(fieldsOf(policy)['granular'])['rules'] === false;
}

const tableIn = (file: string) => fieldsOf(parse(unlessMissing(() => readFileSync(file, 'utf8')) ?? ''));

const unlessMissing = <T>(read: () => T): T | null => valueOr(read, null, ['ENOENT', 'ENOTDIR']);

const WORD = /(?:[\w./:=@%+,-]|'[^'\0]*'|"[^"$`\\!\0]*")+/;
const WORDS = new RegExp(`^ *${WORD.source}(?: +${WORD.source})* *$`);
/** Shell words that run the words after them or read them as a script. */
const SHELL_WORDS: ReadonlySet<string> = new Set(splitWords('. builtin command coproc eval exec source time trap'));

/** The words of a command that the shell runs unchanged; null if the shell may expand, redirect or run more. */
function plainWords(command: string): readonly string[] | null {
  if (!WORDS.test(command)) return null;
  const words = [...command.matchAll(new RegExp(WORD, 'g'))].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
  const [first = ''] = words;
  return first.includes('=') || SHELL_WORDS.has(first) ? null : words;
}
