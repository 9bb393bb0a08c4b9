import { textOf } from '../../base/json.ts';
import { type HookCall, recordHookEvent } from './hook-call.ts';
import type { Reply } from './reply.ts';

/**
 * ConfigChange: refuses changes of the settings during a conversation, because they could switch the hooks off. They
 * take effect in the next conversation.
 */
export async function configChange(at: HookCall): Promise<Reply> {
  await recordHookEvent(at, at.event.name);
  const file = textOf(at.event.fields['file_path']) ?? 'a settings file';
  return {
    kind: 'deny',
    why: `hopgate: ${file} was changed in the middle of a conversation; the change takes effect when Claude Code starts the next time`,
  };
}
