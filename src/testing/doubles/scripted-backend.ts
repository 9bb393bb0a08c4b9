import { assertArgument } from '../../base/assert-argument.ts';
import { isObject, type Json } from '../../base/json.ts';
import type { ToolBackend, ToolCall, ToolReport } from '../../ports/tool-backend.ts';

/** A scripted result, a whole report, or a function from a call's arguments to either. */
export type ScriptedResult =
  | Json
  | ToolReport
  | ((args: ToolCall['args'], call: ToolCall) => Json | ToolReport | Promise<Json | ToolReport>);

/** A backend whose answers a test has fixed, with the calls that it received. */
export interface ScriptedBackend extends ToolBackend {
  /** The calls so far, in order. */
  readonly calls: readonly { readonly tool: string; readonly args: ToolCall['args'] }[];
}

/**
 * A backend that answers from a table without side effects, for tests and rehearsals. A bare value is an `ok` result
 * without effects; a tool without an entry answers `null`.
 * @param tools the tool ids it serves; by default the tools of the table
 *
 * @example
 * const backend = scriptedBackend({ read: { text: 'hello' }, write: ({ path = null }) => ({ path }) });
 */
export function scriptedBackend(
  results: { readonly [tool: string]: ScriptedResult },
  tools?: readonly string[],
): ScriptedBackend {
  assertArgument(isObject(results), 'scriptedBackend: results', 'an object with a result for each tool', results);
  const calls: { tool: string; args: ToolCall['args'] }[] = [];
  return {
    name: 'scripted',
    tools: tools ?? Object.keys(results),
    calls,
    async run(call) {
      if (call.signal.aborted)
        return { outcome: { status: 'failed', code: 'aborted', message: 'The call was aborted.' }, effects: [] };
      calls.push({ tool: call.tool.id, args: structuredClone(call.args) });
      const scripted = Object.hasOwn(results, call.tool.id) ? results[call.tool.id]! : null;
      const result = typeof scripted === 'function' ? await scripted(call.args, call) : scripted;
      return isReport(result) ? result : { outcome: { status: 'ok', result }, effects: [] };
    },
  };
}

function isReport(value: Json | ToolReport): value is ToolReport {
  if (!isObject(value)) return false;
  const { outcome, effects } = value;
  const known = typeof outcome === 'object' && outcome !== null && 'status' in outcome;
  return known && (Array.isArray(effects) || effects === 'unobserved');
}
