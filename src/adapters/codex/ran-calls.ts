import { fieldsOf, textOf } from '../../base/json.ts';
import { type LoggedClientCall, readClientLog } from '../core/client-log.ts';

/** The calls that ran according to Codex's own log, which has no item for a refused call. Skips unknown items. */
export function readCallsInCodexLog(file: string): readonly LoggedClientCall[] {
  return readClientLog(file).entries.flatMap(({ timestamp, type, payload }) => {
    const event = fieldsOf(payload);
    if (type !== 'event_msg' || event['type'] !== 'item_completed') return [];
    const item = fieldsOf(event['item']);
    const id = textOf(item['id']);
    const call = item['status'] === 'declined' ? null : callOf(item);
    return id === null || call === null ? [] : [{ ...call, id, at: textOf(timestamp) ?? '' }];
  });
}

/** The results that Codex gave its model, by the id of the call. A call that did not run has a result, too. */
export const readResultsInCodexLog = (file: string): ReadonlyMap<string, string> =>
  new Map(
    readClientLog(file).entries.flatMap(({ payload }) => {
      const { type, call_id, output } = fieldsOf(payload);
      const id = textOf(call_id);
      const isResult = id !== null && textOf(type)?.endsWith('_call_output');
      return isResult ? [[id, textOf(output) ?? JSON.stringify(output)] as const] : [];
    }),
  );

function callOf(item: { readonly [name: string]: unknown }): Pick<LoggedClientCall, 'tool' | 'input'> | null {
  switch (item['type']) {
    case 'McpToolCall':
      // Requests that Codex answers itself, such as the list of resources.
      if (item['server'] === 'codex') return null;
      return { tool: `mcp__${item['server']}__${item['tool']}`, input: item['arguments'] ?? {} };
    case 'CommandExecution':
      return { tool: 'exec_command', input: { cmd: item['command'] } };
    case 'FileChange':
      return { tool: 'apply_patch', input: { changes: item['changes'] } };
    default:
      return null;
  }
}
