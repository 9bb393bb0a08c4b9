import { createRequire } from 'node:module';
import type { Word, WordPart } from 'unbash';
import { memoise } from '../../base/lazy.ts';
import { valueOr } from '../../base/value-or.ts';

type CommandSplit =
  | { readonly ok: true; readonly words: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** The parser of shell commands. Loading it takes time, and most decisions do not need it. */
const parser = memoise(() => createRequire(import.meta.url)('unbash') as typeof import('unbash'));

const MAX_LENGTH = 32_768;

/**
 * Splits a command line into words as a shell would, but expands nothing: only one simple command made of plain,
 * single-quoted and double-quoted words has words. Anything that a shell would interpret (operators, redirections, `$`,
 * backticks, globs, braces, `~`, assignments, comments) is refused with the reason.
 *
 * @example
 * splitCommand(`commit -m 'fix: a b'`); // { ok: true, words: ['commit', '-m', 'fix: a b'] }
 * splitCommand('status; rm -rf .');     // { ok: false, reason: 'the command contains more than one command' }
 */
export function splitCommand(text: string): CommandSplit {
  if (text.length > MAX_LENGTH) return refuse(`the command is longer than ${MAX_LENGTH} characters`);
  if (text.includes('\0')) return refuse('the command contains a NUL character');
  if (text.trim() === '') return refuse('the command is empty');
  const script = valueOr(() => parser().parse(text), null);
  // The parser overflows its stack on a text with thousands of nested substitutions.
  if (script === null) return refuse('the command is nested too deeply');
  const error = script.errors?.[0];
  if (error !== undefined) return refuse(`the command does not parse: ${error.message}`);
  if (script.commands.length > 1) return refuse(SEVERAL);
  const statement = script.commands[0];
  if (statement === undefined) return refuse('the command contains no command, only a comment');
  if (statement.background) return refuse('the command contains the operator &');
  const command = statement.command;
  if (command.type === 'AndOr') return refuse(SEVERAL);
  if (command.type !== 'Command') return refuse('the command is a pipe or another construct of a shell');
  if (command.prefix.length > 0) return refuse('the command begins with an assignment or a redirection');
  const nodes = command.name === undefined ? command.suffix : [command.name, ...command.suffix];
  const words: string[] = [];
  let end = 0;
  for (const node of nodes) {
    if (node.type === 'Assignment') return refuse(`the command assigns a variable: ${node.text}`);
    if (node.type !== 'Word') return refuse(`the command redirects (${node.operator})`);
    if (!isWhitespace(text.slice(end, node.pos))) return refuse('the command contains something other than words');
    const reason = judgeWord(node);
    if (reason !== null) return refuse(`${reason}: ${node.text}`);
    words.push(node.value);
    end = node.end;
  }
  // The parser drops comments and separators, so the text outside of words must be blank.
  if (text.slice(end).trim() !== '') return refuse(`the command contains a comment or an operator after its words`);
  return words.length === 0 ? refuse('the command contains no command') : { ok: true, words };
}

const SEVERAL = 'the command joins several commands; run each in a call of its own';

const refuse = (reason: string): CommandSplit => ({ ok: false, reason });

const isWhitespace = (text: string): boolean => /^(?:[ \t\n]|\\\n)*$/.test(text);

function judgeWord(word: Word): string | null {
  const bare = unquotedText(word);
  if (bare.startsWith('~')) return 'the command contains an unquoted ~';
  // Bash expands ~ after = and after a colon, as in an assignment.
  if (bare.includes('=') && /[=:]~/.test(bare.slice(bare.indexOf('=')))) {
    return 'the command contains an unquoted ~ after = or :';
  }
  const [open, close] = [bare.indexOf('{'), bare.lastIndexOf('}')];
  if (open >= 0 && /,|\.\./.test(bare.slice(open, Math.max(open, close)))) {
    return 'the command contains a brace expansion';
  }
  if (word.parts === undefined) return judgePlain(word.text);
  for (const part of word.parts) {
    const reason = judgePart(part);
    if (reason !== null) return reason;
  }
  return null;
}

/**
 * The unquoted text of a word, which bash expands. The parser mistakes some of this text for plain letters (`a{},}`).
 * Bash removes line continuations first, so it expands `a=\` before a line with `~`.
 */
const unquotedText = ({ parts, text }: Word): string =>
  (parts ?? [{ type: 'Literal', text } as const])
    .map((part) => (part.type === 'Literal' ? part.text.replace(/\\\n/g, '').replace(/\\./gs, '_') : '_'))
    .join('');

function judgePart(part: WordPart): string | null {
  if (part.type === 'Literal') return judgePlain(part.text);
  if (part.type === 'SingleQuoted') return null;
  if (part.type === 'DoubleQuoted')
    return part.parts.every((child) => child.type === 'Literal') && !hasUnescaped(part.text, /[$`]/)
      ? null
      : 'the command contains an expansion in double quotes (use single quotes; they may hold line breaks, as in a commit message)';
  if (part.type === 'Glob' || part.type === 'ExtendedGlob') return 'the command contains a glob outside quotes';
  if (part.type === 'BraceExpansion') return 'the command contains a brace expansion';
  return 'the command contains an expansion';
}

function judgePlain(text: string): string | null {
  const found = hasUnescaped(text, /[$`|&;<>()*?[\n]/);
  return found === null ? null : `the command contains an unquoted ${found === '\n' ? 'line break' : found}`;
}

/** The first character of a text that matches and has no backslash before it; null if there is none. */
function hasUnescaped(text: string, special: RegExp): string | null {
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (special.test(text[i]!)) return text[i]!;
  }
  return null;
}
