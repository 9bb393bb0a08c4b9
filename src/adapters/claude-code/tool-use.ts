import type { Session } from '../../session/session.ts';
import type { Json } from '../../spec/types.ts';
import type { ToolEvent } from './event.ts';
import { ownTool } from './names.ts';

type Args = { readonly [name: string]: Json };

export type ToolUse =
  | { readonly kind: 'native'; readonly tool: string; readonly args: Args }
  | { readonly kind: 'shell'; readonly tool: string; readonly args: Args }
  | { readonly kind: 'through-hopgate'; readonly tool: string; readonly args: Args }
  | { readonly kind: 'own'; readonly tool: string }
  | { readonly kind: 'inner' }
  | { readonly kind: 'unknown'; readonly why: string | null };

const INNER = new Set([
  'Agent',
  'Task',
  'TodoWrite',
  'TaskCreate',
  'TaskGet',
  'TaskUpdate',
  'TaskList',
  'TaskOutput',
  'TaskStop',
  'KillShell',
  'BashOutput',
  'ToolSearch',
  'AskUserQuestion',
  'EnterPlanMode',
  'ExitPlanMode',
  'ReportFindings',
]);

export function toolUse({ tool, input }: ToolEvent, session: Session): ToolUse {
  const own = ownTool(tool);
  if (own !== null) return { kind: 'own', tool: own };
  const path = input['file_path'] ?? '';
  switch (tool) {
    case 'Read':
      return { kind: 'native', tool: 'read', args: { path } };
    case 'Edit':
      return {
        kind: 'native',
        tool: 'edit',
        args: {
          path,
          old: input['old_string'] ?? '',
          new: input['new_string'] ?? '',
          all: input['replace_all'] === true,
        },
      };
    case 'Write':
      return { kind: 'native', tool: 'write', args: { path, content: input['content'] ?? '' } };
    case 'NotebookEdit':
      return {
        kind: 'native',
        tool: 'write',
        args: { path: input['notebook_path'] ?? '', content: input['new_source'] ?? '' },
      };
    case 'Bash':
      return shell(session, String(input['command'] ?? ''));
    case 'WebFetch':
      return { kind: 'through-hopgate', tool: 'web-fetch', args: { url: input['url'] ?? '' } };
    case 'Agent':
    case 'Task':
      return input['isolation'] === undefined
        ? { kind: 'inner' }
        : { kind: 'unknown', why: 'a sub-agent works in this repository, under this gate; leave isolation out' };
    case 'WebSearch':
      return { kind: 'unknown', why: null };
    default:
      return INNER.has(tool) ? { kind: 'inner' } : { kind: 'unknown', why: null };
  }
}

function shell(session: Session, command: string): ToolUse {
  const { peripheral } = session.state;
  const tools = (peripheral && session.specs.peripherals[peripheral]?.tools) || [];
  if (tools.includes('bash-git') && /^git\s/.test(command)) {
    const [, sub = '', rest = ''] = /^git\s+(\S+)\s*([\s\S]*)$/.exec(command) ?? [];
    return { kind: 'shell', tool: 'bash-git', args: { sub, args: rest } };
  }
  const tool = ['bash', 'bash-readonly', 'bash-test', 'bash-deploy'].find((id) => tools.includes(id)) ?? 'bash';
  return { kind: 'shell', tool, args: tool === 'bash-deploy' ? { name: command } : { command } };
}
