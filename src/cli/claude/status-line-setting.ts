import { join } from 'node:path';
import { readTextOrEmpty } from '../../base/files.ts';
import { fieldsOf, isObject, parseJson } from '../../base/json.ts';
import { quoteShell } from '../../base/text.ts';
import { claudeFolder } from '../../base/user-folders.ts';
import { launcherScriptPath } from '../../daemon/run-command.ts';
import type { Io } from '../io.ts';

interface StatusLine {
  readonly type: 'command';
  readonly command: string;
  readonly [key: string]: unknown;
}

/** Interval in seconds at which Claude Code prints the status line again, because a new request may be waiting. */
const REFRESH_SECONDS = 5;

const commandStart = (env: Io['env']): string => `${quoteShell(launcherScriptPath(env))} line`;

export const isHopgateStatusLine = (stated: unknown, env: Io['env']): boolean =>
  isStatusLine(stated) && stated.command.startsWith(commandStart(env));

const isStatusLine = (stated: unknown): stated is StatusLine =>
  isObject(stated) && (stated as Partial<StatusLine>).type === 'command' && typeof stated['command'] === 'string';

/**
 * The setting that prints hopgate's status line and then the user's own. The user's command is one quoted word of the
 * new command.
 */
export function addHopgateStatusLine(own: unknown, env: Io['env']): StatusLine {
  if (isHopgateStatusLine(own, env)) return own as StatusLine;
  if (!isStatusLine(own) || own.command.trim() === '')
    return { type: 'command', command: commandStart(env), refreshInterval: REFRESH_SECONDS };
  return { ...own, command: `${commandStart(env)} '' ${quoteShell(own.command)}` };
}

/** The status line of the user's own settings; undefined without one. The settings of a repository are ignored. */
export function readUserStatusLine(env: Io['env']): unknown {
  // Claude Code itself reports a settings file that it cannot read.
  return fieldsOf(parseJson(readTextOrEmpty(join(claudeFolder(env), 'settings.json'))))['statusLine'];
}
