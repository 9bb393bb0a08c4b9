import { optional, z } from 'zod';
import { type AgencyPeripheral, CONTEXT_BLOCK_KINDS } from '../spec/agency/agency-types.ts';
import { appendUserRequest, fillPromptTemplate, quoteHopgateHeadings } from '../spec/agency/prompt-template.ts';
import { nameRemedy } from '../spec/names.ts';
import { RunFailure } from './run-reply.ts';

const Id = z.string().min(1).max(200);

/** The limit of one block of context, in characters. */
export const MAX_CONTEXT_CHARS = 1_000_000;

/** The field `context-from` of a run: the session whose context the prompt gets. */
export const SessionContextRequest = z.strictObject({
  session: Id.describe('The session of the caller.'),
  files: z.array(z.string().min(1).max(4_096)).max(20).optional().describe('Files that the session reads.'),
  entries: z.int().min(1).max(200).optional().describe('Number of its last entries (default: 20).'),
});
export type SessionContextRequest = z.output<typeof SessionContextRequest>;

/** The payload of a run; the same for a local and for a remote agent. */
export const RunRequest = z.strictObject({
  'agent-id': Id.describe('The agent, by its name in the registry.'),
  peripheral: Id.describe('The agency peripheral.'),
  inputs: z.record(z.string(), z.json()).optional().describe("The values of the template's inputs, by name."),
  prompt: optional(z.string().max(1_000_000)).describe("The user's own request; after the template if both are given."),
  'context-from': SessionContextRequest.optional().describe('The session whose context is added to the prompt.'),
  context: optional(z.partialRecord(z.enum(CONTEXT_BLOCK_KINDS), z.string().max(MAX_CONTEXT_CHARS))).describe(
    'The text of context blocks; the prompt gets those that the peripheral names.',
  ),
  tools: optional(z.literal('off')).describe(
    'Refuses the run if its peripheral has tools that are on, because the caller may not start agents with tools.',
  ),
  route: optional(z.union([z.literal('local'), z.url({ protocol: /^https?$/ })])).describe(
    'Overrides the location of the agent: "local", or the url of a remote node of the registry.',
  ),
});
export type RunRequest = z.output<typeof RunRequest>;

/**
 * The prompt of a run.
 * @throws RunFailure `missing-inputs` with all their names, `unknown-inputs`, `context-unavailable`
 */
export function renderPrompt(spec: AgencyPeripheral, request: RunRequest): string {
  const { prompt, inputs, context = {} } = request;
  const absent = spec.context.filter((block) => context[block] === undefined);
  if (absent.length > 0)
    throw new RunFailure(
      'context-unavailable',
      `${spec.id} asks for the context ${absent.join(', ')}`,
      'Send "context-from" with a session, and with "files" if it asks for files; or send the text in "context".',
    );
  const blocks = spec.context
    .map((block) => `\n\nContext: ${block}\n${quoteHopgateHeadings(context[block]!)}`)
    .join('');
  if (inputs === undefined && prompt !== undefined)
    return blocks === '' ? prompt : appendUserRequest(blocks.trim(), prompt);
  const stated = inputs ?? {};
  const missing = spec.inputs.filter((name) => !Object.hasOwn(stated, name));
  const unknown = Object.keys(stated).filter((name) => !spec.inputs.includes(name));
  if (missing.length > 0)
    throw new RunFailure(
      'missing-inputs',
      `${spec.id} needs ${missing.join(', ')}`,
      `Send ${missing.length === 1 ? 'it' : 'them'} in "inputs"${inputs === undefined ? ', or send a "prompt"' : ''}.`,
    );
  if (unknown.length > 0)
    throw new RunFailure(
      'unknown-inputs',
      `${spec.id} has no input ${unknown.map((name) => JSON.stringify(name)).join(', ')}`,
      unknown.length === 1 ? nameRemedy(unknown[0]!, spec.inputs) : `The inputs: ${spec.inputs.join(', ')}.`,
    );
  const filled = fillPromptTemplate(spec.promptTemplate, (name) => {
    const value = stated[name]!;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
  const rendered = `${filled}${blocks}`;
  return prompt === undefined ? rendered : appendUserRequest(rendered, prompt);
}
