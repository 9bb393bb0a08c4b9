import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server';
import type { WayLeg } from '../../gate/denial.ts';
import { isReflectPeripheral } from '../../session/state/drafts.ts';
import type { SpecSet } from '../../spec/types.ts';
import type { McpHost } from './mcp-host.ts';

const PROMPTS: readonly Prompt[] = [
  {
    name: 'enter',
    title: 'Enter a peripheral',
    description: 'Moves the agent to a peripheral.',
    arguments: [
      { name: 'peripheral', description: 'The peripheral to enter.', required: true },
      { name: 'reason', description: 'The reason (default: the agent states it).', required: false },
    ],
  },
  {
    name: 'par',
    title: 'Write a post-action review',
    description: 'Asks the agent to review the session and write its PAR.',
  },
  { name: 'where-am-i', title: 'Where am I?', description: 'Describes where the agent is, its tools and its exits.' },
];

/** Serves the prompts: texts for the agent that a person picks from a menu. They give no permission. */
export function servePrompts(server: Server, host: McpHost): void {
  const { session } = host.options;
  server.setRequestHandler('prompts/list', async () => ({ prompts: [...PROMPTS] }));
  server.setRequestHandler('prompts/get', async ({ params }) => {
    if (params.name === 'where-am-i') return promptResult('Where the agent is', await session.prompt());
    if (params.name === 'par') return promptResult('Write a post-action review', await parText(host));
    if (params.name === 'enter') {
      const { peripheral, reason } = params.arguments ?? {};
      return promptResult(`Enter ${peripheral ?? 'a peripheral'}`, await enterText(host, peripheral, reason));
    }
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no prompt "${params.name}"; there are: ${PROMPTS.map(({ name }) => name).join(', ')}`,
    );
  });
  server.setRequestHandler('completion/complete', async ({ params }) => {
    const { ref, argument } = params;
    const isPeripheral = ref.type === 'ref/prompt' && ref.name === 'enter' && argument.name === 'peripheral';
    const values = isPeripheral
      ? (await peripherals(host)).filter((id) => id.startsWith(argument.value)).slice(0, 100)
      : [];
    return { completion: { values, total: values.length, hasMore: false } };
  });
}

const promptResult = (description: string, text: string): GetPromptResult => ({
  description,
  messages: [{ role: 'user', content: { type: 'text', text } }],
});

/** All peripherals; those that can be entered from here come first. */
async function peripherals(host: McpHost): Promise<readonly string[]> {
  const { available } = await host.options.session.status();
  const near = available.hops.map(({ to }) => to);
  const all = Object.keys((await host.specs())?.peripherals ?? {});
  return [...new Set([...near, ...all])];
}

async function enterText(host: McpHost, peripheral: string | undefined, reason: string | undefined): Promise<string> {
  const all = await peripherals(host);
  if (peripheral === undefined || !all.includes(peripheral))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no peripheral "${peripheral ?? ''}"; there are: ${all.join(', ')}`,
    );
  const { available } = await host.options.session.status();
  const hops = available.hops.filter(({ to }) => to === peripheral);
  const purpose = (await host.specs())?.peripherals[peripheral]?.purpose;
  return [
    `Enter the peripheral "${peripheral}"${purpose ? `: ${purpose}` : '.'}`,
    `Call the tool "hop" with to: "${peripheral}" and the reason${reason ? ` (${reason})` : ''}.`,
    hops.length > 0
      ? `It is open from here by: ${hops.map(legInWords).join(' | ')}.`
      : 'No exit leads there from here; the refusal names the shortest path. Take it hop by hop.',
    'If it is refused, follow the refusal; do not try to get around it.',
  ].join('\n');
}

const legInWords = ({ exit, to, needs, modes = [] }: WayLeg): string =>
  `${modes.map(({ to: mode }) => `mode ${mode}, then `).join('')}${exit === null ? to : `exit "${exit}"`}${needs.length > 0 ? ` (needs: ${needs.join('; ')})` : ''}`;

async function parText(host: McpHost): Promise<string> {
  const { peripheral } = await host.options.session.status();
  const specs = await host.specs();
  const reflective = reviewingPeripherals(specs);
  const here = reflective.find(({ id }) => id === peripheral);
  const where = reflective.map(({ id }) => `"${id}"`).join(' or ') || 'the peripheral that yields one';
  return [
    'Write the post-action review (PAR) of this session: its facts come from the evidence; add your own words.',
    ...(here ? [] : [`Hop to ${where} first.`]),
    'Use the log and the refusals: what happened, not what was intended.',
    `Then hop to another peripheral, and write your words in the argument fruit${statedFields(here ?? reflective[0])}.`,
  ].join('\n');
}

const reviewingPeripherals = (specs: SpecSet | null) =>
  Object.values(specs?.peripherals ?? {}).filter(isReflectPeripheral);

function statedFields(peripheral: SpecSet['peripherals'][string] | undefined): string {
  const fields = Object.entries(peripheral?.fruit ?? {}).flatMap(([name, { kind, type }]) =>
    kind === 'stated' ? [`${name} (${typeof type === 'string' ? type : type.join(' or ')})`] : [],
  );
  return fields.length === 0 ? '' : `: ${fields.join(', ')}`;
}
