import { asJson, type Fields, fieldsOf, type Json, parseJson, textOf } from '../../../base/json.ts';
import type { AgentAnswer, AgentTool } from '../agent-session.ts';

/**
 * The shapes that chat APIs give tools, calls and results: `openai` is Chat Completions, `openai-responses` the
 * Responses API, `anthropic` the Messages API, `gemini` generateContent (its tools are function declarations), `plain`
 * is hopgate's own shape (`{ id, name, input }` and `{ id, name, status, text, data }`).
 */
export type ChatShape = 'openai' | 'openai-responses' | 'anthropic' | 'gemini' | 'plain';

/** A tool definition or a message in the shape of the API. */
export type ChatTool = Fields;
export type ChatMessage = Fields;

/** A model's call, independent of the API. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  /** The arguments, unchecked. A text that is not JSON stays a text, and the gate refuses it. */
  readonly input: unknown;
}

interface Shape {
  readonly tool: (tool: AgentTool) => ChatTool;
  readonly results: (
    answers: readonly { readonly id: string; readonly name: string; readonly answer: AgentAnswer }[],
  ) => readonly ChatMessage[];
}

const schemaOf = ({ inputSchema }: AgentTool): Json => asJson(structuredClone(inputSchema));
const labelOf = ({ name, description }: AgentTool) => ({ name, description });

/** One user message with all results of a turn under `key`; no message without results. */
const userMessages = (key: string, parts: Json[]): readonly ChatMessage[] =>
  parts.length === 0 ? [] : [{ role: 'user', [key]: parts }];

export const CHAT_SHAPES: { readonly [shape in ChatShape]: Shape } = {
  openai: {
    tool: (tool) => ({ type: 'function', function: { ...labelOf(tool), parameters: schemaOf(tool) } }),
    results: (answers) => answers.map(({ id, answer }) => ({ role: 'tool', tool_call_id: id, content: answer.text })),
  },
  'openai-responses': {
    tool: (tool) => ({ type: 'function', ...labelOf(tool), parameters: schemaOf(tool), strict: false }),
    results: (answers) =>
      answers.map(({ id, answer }) => ({ type: 'function_call_output', call_id: id, output: answer.text })),
  },
  anthropic: {
    tool: (tool) => ({ ...labelOf(tool), input_schema: schemaOf(tool) }),
    results: (answers) =>
      userMessages(
        'content',
        answers.map(({ id, answer: { status, text } }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: text,
          is_error: status !== 'ok',
        })),
      ),
  },
  gemini: {
    tool: (tool) => ({ ...labelOf(tool), parametersJsonSchema: schemaOf(tool) }),
    results: (answers) =>
      userMessages(
        'parts',
        answers.map(({ id, name, answer: { status, text } }) => {
          const response = { [status === 'ok' ? 'output' : 'error']: text };
          return { functionResponse: { ...(id === '' ? {} : { id }), name, response } };
        }),
      ),
  },
  plain: {
    tool: (tool) => ({ ...labelOf(tool), inputSchema: schemaOf(tool) }),
    results: (answers) =>
      answers.map(({ id, name, answer: { status, text, data } }) => ({ id, name, status, text, data })),
  },
};

/** Reads a call in any of the shapes. Any other value becomes a call of the tool "", which the gate refuses. */
export function readChatCall(call: unknown): ModelCall {
  const outer = fieldsOf(call);
  const fields = 'functionCall' in outer ? fieldsOf(outer['functionCall']) : outer; // a part of a Gemini message
  const inner = fieldsOf(fields['function']);
  const input = fields['input'] ?? fields['arguments'] ?? inner['arguments'] ?? fields['args'];
  return {
    id: textOf(fields['call_id'] ?? fields['id'] ?? fields['tool_call_id']) ?? '',
    name: textOf(fields['name'] ?? inner['name']) ?? '',
    input: typeof input === 'string' ? parseArguments(input) : (input ?? {}),
  };
}

const parseArguments = (text: string): unknown => (text.trim() === '' ? {} : parseJson(text, text));
