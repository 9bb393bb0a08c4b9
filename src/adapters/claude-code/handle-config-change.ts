import { textOf } from '../../base/json.ts';
import { type HookEventContext, recordHookEvent } from './hook-event-context.ts';
import type { HookReply } from './hook-reply.ts';

/** Refuses changes of Claude Code's settings until the next conversation: they could disable the hooks. */
export async function handleConfigChange(hook: HookEventContext): Promise<HookReply> {
  await recordHookEvent(hook, hook.event.name);
  const file = textOf(hook.event.fields['file_path']) ?? 'a settings file';
  return {
    kind: 'deny',
    why: `hopgate: ${file} was changed in the middle of a conversation; the change takes effect when Claude Code starts the next time`,
  };
}
