import type { AgentCard } from '@a2a-js/sdk';
import type { AgencySpec } from '../../spec/agency/agency-types.ts';

/** The version of the A2A protocol that the node speaks. */
const A2A_VERSION = '1.0';

interface CardOptions {
  readonly node: string;
  readonly version: string;
  /** The server's address in the request: `http://127.0.0.1:4780`. */
  readonly base: string;
  /** The agent of the registry to describe; null for the node with all its agents. */
  readonly agent: string | null;
}

/** Describes the node, or one of its agents, to clients of the A2A protocol. Each agency peripheral is a skill. */
export function makeAgentCard(
  { peripherals, agents }: AgencySpec,
  { node, version, base, agent }: CardOptions,
): AgentCard {
  const names = agent === null ? Object.keys(agents) : [agent];
  const modes = ['text/plain', 'application/json'];
  return {
    name: agent ?? node,
    description: `Runs ${names.length === 0 ? 'no agent yet' : names.join(', ')} in the agency peripherals of hopgate: one turn, one response.`,
    supportedInterfaces: [
      {
        url: `${base}/a2a${agent === null ? '' : `/${encodeURIComponent(agent)}`}`,
        protocolBinding: 'JSONRPC',
        tenant: '',
        protocolVersion: A2A_VERSION,
      },
    ],
    provider: undefined,
    version,
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {
      bearer: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: {
            description: 'The token of the operator, of an agent, or of a node.',
            scheme: 'bearer',
            bearerFormat: '',
          },
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: Object.values(peripherals).map(({ id, entry, inputs, response }) => ({
      id,
      name: id,
      description: entry,
      tags: ['hopgate', ...names],
      examples: inputs.length === 0 ? [] : [JSON.stringify(Object.fromEntries(inputs.map((name) => [name, '…'])))],
      inputModes: modes,
      outputModes: [response.type === 'json' ? 'application/json' : 'text/plain'],
      securityRequirements: [],
    })),
    signatures: [],
  };
}
