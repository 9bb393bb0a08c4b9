import { ALLOW_REPLY_PREFIX, HOOK_REPLY_SUFFIX } from '../hook-reply.ts';

/** The hook events. None has a matcher, so tools of later versions of the client are covered, too. */
const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'SessionEnd',
  'ConfigChange',
] as const;
type ClaudeEvent = (typeof EVENTS)[number];

/** Events at the end of a turn or a session. An error must not block them, because the agent would never stop. */
const ENDINGS: ReadonlySet<ClaudeEvent> = new Set(['SubagentStop', 'Stop', 'SessionEnd']);

/** Seconds after which the client aborts a hook. hopgate's hook answers earlier. */
const TIMEOUT_SECONDS = 30;

interface CommandHook {
  readonly type: 'command';
  readonly command: string;
  readonly timeout: number;
  readonly onFailure?: 'block';
}
type ClaudeHooks = { readonly [event in ClaudeEvent]: readonly { readonly hooks: readonly CommandHook[] }[] };

/**
 * The hooks in the form of Claude Code's settings and plugins. The command line is short, because the model reads it
 * with every refusal. The path of the shell is absolute, because a repository's settings can change PATH.
 * @param script the path of the file with {@link printHookScript}, as a word of the shell
 */
export function makeClaudeHooks(script: string): ClaudeHooks {
  const group = (event: ClaudeEvent) => {
    const hook = { type: 'command' as const, command: `/bin/sh ${script} ${event}`, timeout: TIMEOUT_SECONDS };
    return [{ hooks: [ENDINGS.has(event) ? hook : { ...hook, onFailure: 'block' as const }] }];
  };
  return Object.fromEntries(EVENTS.map((event) => [event, group(event)])) as unknown as ClaudeHooks;
}

/**
 * The script around the hook. It lets a call through only if the hook's output is an explicit allow, because the client
 * takes empty or unreadable output for an allow, even with `onFailure`. For events at the end of a turn, it reports an
 * error but does not block.
 * @param command the shell command line that answers a hook
 */
export const printHookScript = (command: string): string => `# Written by hopgate; changes made here are lost.
fault() {
  echo "hopgate could not decide (its hook ended with $1), so this is refused; run hopgate doctor" >&2
  exit 2
}
reply=$(${command})
ended=$?
case $1 in
${[...ENDINGS].join(' | ')})
  [ $ended -eq 0 ] && { printf '%s' "$reply"; exit 0; }
  printf '{"systemMessage":"hopgate could not answer %s (its hook ended with %s); run hopgate doctor"}' "$1" "$ended"
  exit 0
  ;;
esac
[ $ended -eq 2 ] && exit 2
[ $ended -eq 0 ] || fault $ended
if [ "$1" = PreToolUse ]; then
  case $reply in
  '${ALLOW_REPLY_PREFIX}'*'${HOOK_REPLY_SUFFIX}') ;;
  *) fault "$ended, without a decision" ;;
  esac
fi
printf '%s' "$reply"
`;

/** Path of the guard script, relative to the root of a repository. */
export const GUARD_SCRIPT_PATH = '.claude/skills/hopgate/hooks/here.sh';

export const isGuardHookCommand = (command: unknown): boolean =>
  typeof command === 'string' && command.includes(GUARD_SCRIPT_PATH);

/**
 * Hooks for a repository's own settings, in addition to the plugin in `.claude/skills`. If Claude Code starts in a
 * folder below the root of the working tree, it reads those settings but not the plugin. No hook would decide then, so
 * these hooks refuse everything.
 * @param script the path of the file with {@link GUARD_SCRIPT}, as a word of the shell
 */
export function makeGuardHooks(script: string): {
  readonly [event in 'UserPromptSubmit' | 'PreToolUse']: ClaudeHooks[event];
} {
  const hook = { type: 'command', command: `/bin/sh ${script}`, timeout: TIMEOUT_SECONDS, onFailure: 'block' } as const;
  return { UserPromptSubmit: [{ hooks: [hook] }], PreToolUse: [{ hooks: [hook] }] };
}

export const GUARD_SCRIPT = `# Written by hopgate; changes made here are lost.
[ -e "$CLAUDE_PROJECT_DIR/.claude/skills/hopgate/hooks/ask.sh" ] && exit 0
echo 'hopgate is installed in this repository, but Claude Code loads it only if started in the root of the repository.' >&2
echo 'What to do: start Claude Code there, or with "hopgate claude".' >&2
exit 2
`;
