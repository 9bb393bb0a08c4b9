import { quoteShell } from '../../base/text.ts';
import type { TomlValue } from './toml.ts';

/** The hook events. None has a matcher, so tools of later versions of Codex are covered, too. */
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

/** Seconds after which Codex aborts a hook and takes this for an allow. hopgate's hook answers much earlier. */
const TIMEOUT_SECONDS = 60;

interface HookGroup {
  readonly [key: string]: TomlValue;
  readonly hooks: readonly { readonly type: 'command'; readonly command: string; readonly timeout: number }[];
}

export type CodexHooks = { readonly [event in CodexEvent]: readonly HookGroup[] };

/**
 * The hooks in the form of Codex's configuration: `hooks` in hooks.json and in config.toml.
 * @param command a shell command line
 */
export const codexHooks = (command: string): CodexHooks =>
  Object.fromEntries(CODEX_EVENTS.map((event) => [event, [groupOf(command, event)]])) as unknown as CodexHooks;

const groupOf = (command: string, event: CodexEvent): HookGroup => ({
  hooks: [{ type: 'command', command: failingClosed(command, event), timeout: TIMEOUT_SECONDS }],
});

/**
 * Wraps the hook program in a shell script that fails closed: if the program is missing, crashes, is killed or prints
 * nonsense, the script exits with 2 and a reason. Codex takes every other exit code for an allow, as well as exit 2
 * without a reason, and output that it cannot read. The script names its own shell, because Codex uses the user's.
 */
const failingClosed = (command: string, event: CodexEvent): string =>
  `/bin/sh -c ${quoteShell(`${MARK} ${scriptOf(command, event)}`)}`;

function scriptOf(command: string, event: CodexEvent): string {
  switch (event) {
    case 'PreToolUse':
      // Empty output means that the call is allowed.
      return `o=$(${command}); s=$?; [ -n "$o" ] && [ $s -eq 0 ] && s=1; ${CLOSE}`;
    case 'Stop':
    case 'SubagentStop':
      // At these events an error must not block: a blocked agent would never stop, and no effect depends on them.
      return `(${command}) || exit 0`;
    default:
      return `(${command}); s=$?; ${CLOSE}`;
  }
}

/** A shell command without effect; marks hopgate's hooks in a settings file. */
const MARK = ': hopgate-hook;';

/** True if a hook's command is one of {@link codexHooks}, from any installation. */
export const isHopgateCodexHook = (command: string): boolean => command.includes(MARK);

const CLOSE =
  '[ $s -eq 0 ] && exit 0; [ $s -eq 2 ] && w="(decided by hopgate)" || w="hopgate could not decide (its hook ended with $s), so nothing runs; run hopgate doctor"; echo "$w" >&2; exit 2';
