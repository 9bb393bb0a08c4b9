import { ALLOW_BEGINS, ALLOW_ENDS } from '../reply.ts';

/** The events that hopgate takes. None has a matcher: whatever the client calls, now or later, comes here. */
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

/** At these a fault must not hold the agent: it would go on for ever. */
const ENDINGS: ReadonlySet<ClaudeEvent> = new Set(['SubagentStop', 'Stop', 'SessionEnd']);

/** Seconds until the client gives a hook up. Ours answers before. */
const TIMEOUT_SECONDS = 10;

interface CommandHook {
  readonly type: 'command';
  readonly command: string;
  readonly timeout: number;
  readonly onFailure?: 'block';
}
export type ClaudeHooks = { readonly [event in ClaudeEvent]: readonly { readonly hooks: readonly CommandHook[] }[] };

/**
 * The hooks as Claude Code's settings and plugins take them. The model reads the command line with every refusal, so that it is short. The shell is
 * named by its path, because a repository's settings can set the PATH.
 *
 * @param script the shell's word for the file that holds {@link hookScript}
 */
export function claudeHooks(script: string): ClaudeHooks {
  const group = (event: ClaudeEvent) => {
    const hook = { type: 'command' as const, command: `/bin/sh ${script} ${event}`, timeout: TIMEOUT_SECONDS };
    return [{ hooks: [ENDINGS.has(event) ? hook : { ...hook, onFailure: 'block' as const }] }];
  };
  return Object.fromEntries(EVENTS.map((event) => [event, group(event)])) as unknown as ClaudeHooks;
}

/**
 * The client takes silence, and any text that it cannot read, for an allow, also with `onFailure`. So this script around the hook lets a call
 * through only where the hook says in so many words that it does. A fault at an ending is told, not obeyed.
 *
 * @param command a shell command line: what answers a hook
 */
export const hookScript = (command: string): string => `# Written by hopgate; changes made here are lost.
fault() {
  echo "hopgate could not decide (its hook ended with $1), so this is refused; run hopgate doctor" >&2
  exit 2
}
said=$(${command})
ended=$?
case $1 in
${[...ENDINGS].join(' | ')})
  [ $ended -eq 0 ] && { printf '%s' "$said"; exit 0; }
  printf '{"systemMessage":"hopgate could not answer %s (its hook ended with %s); run hopgate doctor"}' "$1" "$ended"
  exit 0
  ;;
esac
[ $ended -eq 2 ] && exit 2
[ $ended -eq 0 ] || fault $ended
if [ "$1" = PreToolUse ]; then
  case $said in
  '${ALLOW_BEGINS}'*'${ALLOW_ENDS}') ;;
  *) fault "$ended, without a verdict" ;;
  esac
fi
printf '%s' "$said"
`;

/** Where the guard lies, from the root of a repository. */
export const GUARD_FILE = '.claude/skills/hopgate/hooks/here.sh';

/** Whether a hook's command is one of {@link guardHooks}. */
export const isGuard = (command: unknown): boolean => typeof command === 'string' && command.includes(GUARD_FILE);

/**
 * Hooks for a repository's own settings, beside the plugin in `.claude/skills`. Started in a folder below the root of the working tree, Claude Code
 * reads those settings and not that plugin: then nobody would decide, so that nothing is let through.
 *
 * @param script the shell's word for the file that holds {@link GUARD_SCRIPT}
 */
export function guardHooks(script: string): {
  readonly [event in 'UserPromptSubmit' | 'PreToolUse']: ClaudeHooks[event];
} {
  const hook = { type: 'command', command: `/bin/sh ${script}`, timeout: TIMEOUT_SECONDS, onFailure: 'block' } as const;
  return { UserPromptSubmit: [{ hooks: [hook] }], PreToolUse: [{ hooks: [hook] }] };
}

export const GUARD_SCRIPT = `# Written by hopgate; changes made here are lost.
[ -e "$CLAUDE_PROJECT_DIR/.claude/skills/hopgate/hooks/ask.sh" ] && exit 0
echo 'hopgate is installed in this repository, and Claude Code loads it only where it is started in the root of it.' >&2
echo 'What to do: start Claude Code there, or with "hopgate claude".' >&2
exit 2
`;
