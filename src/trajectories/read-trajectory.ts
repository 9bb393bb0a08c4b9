import { z } from 'zod';
import { fieldsOf, isObject, parseJson, textOf } from '../base/json.ts';

/** One act of another program's agent: a tool call, or a command line. */
export interface ForeignAct {
  readonly name: string;
  readonly input: { readonly [argument: string]: unknown };
  readonly output: string;
  /** The exit status of a command; null if the trajectory does not state it. */
  readonly exit: number | null;
}

/** A recorded run of an agent that worked without hopgate. */
export interface Trajectory {
  readonly id: string;
  readonly format: 'swe-agent' | 'mini-swe-agent' | 'atif';
  /** The folder that relative paths start from; null if it is not stated. */
  readonly folder: string | null;
  readonly acts: readonly ForeignAct[];
  /** True if the agent ended the run by a submission; null if the trajectory does not state it. */
  readonly submitted: boolean | null;
}

export const SHELL_ACT_NAME = 'bash';

const { looseObject } = z;
const text = z.string().catch('');
const anything = z.unknown().optional();

/** The format of https://swe-agent.com/latest/usage/trajectories/. */
const sweAgent = looseObject({
  trajectory: z.array(looseObject({ action: text, observation: text, state: anything })),
  info: looseObject({ exit_status: z.string().nullish() }).nullish(),
});

/** `messages` of mini-swe-agent 1 and 2; its first versions wrote the list alone. */
const message = looseObject({ role: text, content: anything, tool_calls: anything, extra: anything });
const miniSweAgent = looseObject({
  messages: z.array(message),
  info: looseObject({ exit_status: z.string().nullish(), config: anything }).nullish(),
});

/** The format of https://harborframework.com/docs/trajectory-format, versions 1.0 to 1.7. */
const atif = looseObject({
  schema_version: z.string(),
  steps: z.array(
    looseObject({
      source: text,
      tool_calls: z
        .array(looseObject({ tool_call_id: z.string().nullish(), function_name: z.string(), arguments: anything }))
        .nullish(),
      observation: looseObject({
        results: z.array(looseObject({ source_call_id: z.string().nullish(), content: anything })).nullish(),
      }).nullish(),
    }),
  ),
});

/**
 * Reads a trajectory of SWE-agent (`.traj`), mini-swe-agent (`.traj.json`) or in the Agent Trajectory Interchange
 * Format. Returns null if the value has another form.
 * @param id names the run in the report
 */
export function readTrajectory(id: string, value: unknown): Trajectory | null {
  const asAtif = atif.safeParse(value);
  if (asAtif.success) return fromAtif(id, asAtif.data);
  const asSwe = sweAgent.safeParse(value);
  if (asSwe.success) return fromSweAgent(id, asSwe.data);
  const history = Array.isArray(value) ? value : fieldsOf(value)['history'];
  const asMini = miniSweAgent.safeParse(history === undefined ? value : { messages: history });
  // Other programs also write a list of objects, but without roles.
  const isMini = asMini.success && asMini.data.messages.some(({ role }) => role !== '');
  return isMini ? fromMiniSweAgent(id, asMini.data) : null;
}

function fromSweAgent(id: string, { trajectory, info }: z.infer<typeof sweAgent>): Trajectory {
  const acts = trajectory.map(({ action, observation, ...rest }) => {
    const fields = fieldsOf(rest);
    const call = fieldsOf(Array.isArray(fields['tool_calls']) ? fieldsOf(fields['tool_calls'][0])['function'] : null);
    const input = typeof call['arguments'] === 'string' ? fieldsOf(parseJson(call['arguments'])) : null;
    const name = textOf(call['name']);
    return name !== null && input !== null
      ? { name, input, output: observation, exit: null }
      : { name: SHELL_ACT_NAME, input: { command: action.trim() }, output: observation, exit: null };
  });
  const state = trajectory.map(({ state }) => fieldsOf(typeof state === 'string' ? parseJson(state) : state));
  const folder = state.map((one) => textOf(one['working_dir'])).find((one) => one !== null) ?? null;
  const status = info?.exit_status ?? null;
  return { id, format: 'swe-agent', folder, acts, submitted: status === null ? null : /^submitted/.test(status) };
}

function fromMiniSweAgent(id: string, { messages, info }: z.infer<typeof miniSweAgent>): Trajectory {
  const acts: ForeignAct[] = [];
  for (const [at, one] of messages.entries()) {
    if (one.role !== 'assistant') continue;
    const next = messages[at + 1];
    const output = next === undefined ? '' : asText(next.content);
    const stated = fieldsOf(next?.extra)['returncode'] ?? /<returncode>(-?\d+)<\/returncode>/.exec(output)?.[1];
    const exit = stated === undefined || Number.isNaN(Number(stated)) ? null : Number(stated);
    for (const command of commandsOf(one)) acts.push({ name: SHELL_ACT_NAME, input: { command }, output, exit });
  }
  const folder = textOf(fieldsOf(fieldsOf(info?.config)['environment'])['cwd']);
  const status = info?.exit_status ?? null;
  return {
    id,
    format: 'mini-swe-agent',
    folder,
    acts,
    submitted: status === null ? null : /^submitted$/i.test(status),
  };
}

/** The commands in a message: those that the program recorded, else its tool calls, else its only block of code. */
function commandsOf({ content, tool_calls: calls, extra }: z.infer<typeof message>): readonly string[] {
  const recorded = fieldsOf(extra)['actions'];
  const called = Array.isArray(calls) ? calls.map((call) => fieldsOf(fieldsOf(call)['function'])['arguments']) : [];
  const from = Array.isArray(recorded)
    ? recorded
    : called.map((one) => (typeof one === 'string' ? parseJson(one) : one));
  const commands = from.map((one) => textOf(isObject(one) ? one['command'] : one)).filter((one) => one !== null);
  if (commands.length > 0) return commands;
  const blocks = [...asText(content).matchAll(/```(?:mswea_bash_command|bash|sh)?\n([\s\S]*?)\n```/g)];
  return blocks.length === 1 ? [blocks[0]![1]!] : [];
}

function fromAtif(id: string, { steps, ...rest }: z.infer<typeof atif>): Trajectory {
  const acts = steps.flatMap(({ tool_calls: calls, observation }) =>
    (calls ?? []).map(({ tool_call_id: callId, function_name: name, arguments: input }, at) => {
      const results = observation?.results ?? [];
      const result = results.find((one) => callId != null && one.source_call_id === callId) ?? results[at];
      const exit = fieldsOf(fieldsOf(result)['extra'])['exit_code'];
      return {
        name,
        input: typeof input === 'string' ? { command: input } : fieldsOf(input),
        output: asText(result?.content),
        exit: typeof exit === 'number' ? exit : null,
      };
    }),
  );
  const extra = fieldsOf(fieldsOf(rest)['extra']);
  return { id, format: 'atif', folder: textOf(extra['cwd']), acts, submitted: null };
}

/** The text of a message's content, which may be a list of parts. */
function asText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => textOf(fieldsOf(part)['text']) ?? '').join('\n') : '';
}
