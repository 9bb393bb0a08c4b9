import { quoteShell } from '../../base/text.ts';
import type { TomlValue } from './toml.ts';

/** The events that hopgate takes. Tool events have no matcher: whatever Codex calls, now or later, comes here. */
export const CODEX_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'SubagentStart',
  'SubagentStop',
  'Stop',
] as const;
export type CodexEvent = (typeof CODEX_EVENTS)[number];

/** Seconds until Codex gives a hook up, and goes on as if it had allowed. Ours answers long before. */
const TIMEOUT_SECONDS = 60;

export interface HookGroup {
  readonly [key: string]: TomlValue;
  readonly hooks: readonly { readonly type: 'command'; readonly command: string; readonly timeout: number }[];
}

export type CodexHooks = { readonly [event in CodexEvent]: readonly HookGroup[] };

/**
 * The hooks as Codex's config takes them, `hooks` in hooks.json and config.toml alike.
 *
 * @param command a shell command line
 */
export const codexHooks = (command: string): CodexHooks => ({
  SessionStart: [groupOf(command, 'SessionStart')],
  UserPromptSubmit: [groupOf(command, 'UserPromptSubmit')],
  PreToolUse: [groupOf(command, 'PreToolUse')],
  PostToolUse: [groupOf(command, 'PostToolUse')],
  SubagentStart: [groupOf(command, 'SubagentStart')],
  SubagentStop: [groupOf(command, 'SubagentStop')],
  Stop: [groupOf(command, 'Stop')],
});

const groupOf = (command: string, event: CodexEvent): HookGroup => ({
  hooks: [{ type: 'command', command: failingClosed(command, event), timeout: TIMEOUT_SECONDS }],
});

/**
 * Codex takes any other exit than 2 for an allow, a 2 without a word too, and an allow that it cannot read. So whatever happens to the hook program
 * (not there, crashed, killed, talking nonsense), the shell around it ends with 2 and a reason. In a shell of its own, because Codex uses the user's.
 */
function failingClosed(command: string, event: CodexEvent): string {
  return `/bin/sh -c ${quoteShell(`${MARK} ${scriptOf(command, event)}`)}`;
}

function scriptOf(command: string, event: CodexEvent): string {
  switch (event) {
    case 'PreToolUse':
      // A call that may run is answered by silence.
      return `o=$(${command}); s=$?; [ -n "$o" ] && [ $s -eq 0 ] && s=1; ${CLOSE}`;
    case 'Stop':
    case 'SubagentStop':
      // An agent that is not let go would go on for ever; nothing of the world is decided here.
      return `(${command}) || exit 0`;
    default:
      return `(${command}); s=$?; ${CLOSE}`;
  }
}

/** Does nothing; tells our hooks from others in a settings file. */
const MARK = ': hopgate-hook;';

/** Whether a hook's command is one of {@link codexHooks}, of whichever installation. */
export const isOurs = (command: string): boolean => command.includes(MARK);

const CLOSE =
  '[ $s -eq 0 ] && exit 0; [ $s -eq 2 ] && w="(decided by hopgate)" || w="hopgate could not decide (its hook ended with $s), so nothing runs; run hopgate doctor"; echo "$w" >&2; exit 2';
