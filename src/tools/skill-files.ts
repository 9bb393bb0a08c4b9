import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parse } from 'yaml';
import { type Fields, fieldsOf, type Json } from '../base/json.ts';
import { readRegularFile } from '../base/read-file.ts';
import { valueOr } from '../base/value-or.ts';
import { isMaskedByConfig } from '../gate/scope/masks.ts';
import type { CallEnvelope } from '../ports/tool-backend.ts';
import { findInstructionFiles, importProblemOfText } from './instruction-imports.ts';

interface SkillCall {
  readonly skill: string;
  /** The text that replaces `$ARGUMENTS`. */
  readonly args: string;
  /** True if a sub-agent calls. Its skills may start no agent, because no hook names the agent that started another. */
  readonly isSubAgent: boolean;
}

/** Maximum size of a skill's file; a larger file is not found. */
const MAX_BYTES = 1 << 20;

/**
 * Explains why a skill may not be loaded; the text completes "the skill …". Null if it may be loaded. Claude Code runs
 * the commands that a skill embeds (`` !`command` ``) and the hooks of its head without hopgate, so such a skill is
 * refused. All files of this name are judged, because the client decides which one it loads. Skills without a file in
 * `.claude` (of plugins, or built in) cannot be judged.
 * @param configFolder the folder of the user's own settings
 */
export function skillProblem(
  envelope: Pick<CallEnvelope, 'root' | 'config'>,
  { skill, args, isSubAgent }: SkillCall,
  configFolder: string,
): string | null {
  const name = skill.replace(/^\//, '');
  if (/`|!(?=\s|$)/.test(args)) return 'is called with a ` or with a ! at the end of a word; leave these out';
  if (/(?<!\w)@/.test(args)) return 'is called with a @, which may show a file; name files without it';
  const ofRepository = findInstructionFiles(envelope.root, true)
    .filter((path) => SKILL_PATH.test(path))
    .map((path) => ({ path, place: join(envelope.root, path), shown: path }));
  const users = ['skills', 'commands'].flatMap((kind) =>
    markdownIn(join(configFolder, kind)).map((below) => {
      const file = join(configFolder, kind, below);
      return { path: posix.join('.claude', kind, below), place: file, shown: file };
    }),
  );
  let isFound = false;
  for (const { path, place, shown } of [...ofRepository, ...users]) {
    const text = readSkillText(place);
    if (text === null || ![nameOf(path), frontMatterOf(text)['name']].includes(name)) continue;
    isFound = true;
    const why =
      fileProblem(envelope, path, text) ??
      (isSubAgent && Object.hasOwn(frontMatterOf(text), 'context') ? STARTS_AGENT : null) ??
      (args !== '' && /@[^\s@]*\$/.test(text) ? SHOWS_ARGUMENT : null);
    if (why !== null) return `${why} (${shown}); read that file and follow it`;
  }
  return isFound ? null : 'has no file in a .claude folder that hopgate could check; ask the operator what it says';
}

const SHOWS_ARGUMENT = 'shows a file that an argument names';
const STARTS_AGENT = 'starts a sub-agent, which a sub-agent may not do';

const SKILL_PATH = /(?:^|\/)\.claude\/(?:skills|commands)\//i;

/** The name of a skill or command: the name of the skill's folder, or of the command's file. */
function nameOf(path: string): string {
  const below = path.slice(path.search(SKILL_PATH)).replace(/^\/?\.claude\/(?:skills|commands)\//i, '');
  return below.replace(/(?:\/SKILL)?\.md$/i, '').replaceAll('/', ':');
}

/** The YAML at the beginning of the file. If it cannot be parsed, it is searched for the keys that matter. */
function frontMatterOf(text: string): Fields {
  const head = /^\uFEFF?---[ \t\r]*\n([\s\S]*?)\n---/.exec(text)?.[1] ?? '';
  try {
    return fieldsOf(parse(head) as Json);
  } catch {
    const keys = ['name', 'hooks', 'context'].flatMap((key): [string, string][] => {
      const value = new RegExp(`\\b${key}\\b["']?\\s*:[ \\t]*(.*)`).exec(head)?.[1];
      return value === undefined ? [] : [[key, value.trimEnd().replace(/^["']|["']$/g, '')]];
    });
    return Object.fromEntries(keys);
  }
}

function fileProblem(envelope: Pick<CallEnvelope, 'root' | 'config'>, path: string, text: string): string | null {
  if (isMaskedByConfig(path, envelope.config.mask)) return 'has a masked file';
  if (text.includes('!`') || /^[^\S\n\r\u2028\u2029]*(?:`{3}|~{3})[^\n]*!/m.test(text))
    return 'embeds commands, which would run without hopgate';
  if (Object.hasOwn(frontMatterOf(text), 'hooks')) return 'brings hooks, which would run without hopgate';
  const why = importProblemOfText(envelope, path, text);
  return why === null ? null : `shows a file: ${why}`;
}

const markdownIn = (folder: string): readonly string[] =>
  valueOr(() => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.md$/i.test(path)), []);

const readSkillText = (place: string): string | null =>
  valueOr(() => readRegularFile(place, MAX_BYTES).toString('utf8'), null);
