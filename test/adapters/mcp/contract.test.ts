import { type AgentDriver, describeAgentAdapter, type Scene, type SeenTurn } from '../../contracts/agent-adapter.ts';
import { depth } from '../../depth.ts';
import { connected, ERAS, type Era, hostOf, names, textOf } from './client.ts';

/** A program with a model and an MCP client: it offers the newest list of tools, and makes the model's calls. */
function driver(era: Era): AgentDriver {
  return {
    async play({ agentSession, script, person }: Scene) {
      let offered: readonly string[] = [];
      const client = await connected(hostOf(agentSession), {
        era,
        person: async (shown) =>
          (await person(shown)) ? { action: 'accept', content: { approve: true } } : { action: 'decline' },
        onTools: (names) => {
          offered = names;
        },
      });
      offered = await names(client);
      const seen: SeenTurn[] = [];
      let results: readonly string[] = [];
      for (const turn of script) {
        seen.push({ offered, instructions: client.getInstructions() ?? '', results });
        if ('say' in turn) break;
        results = await Promise.all(
          turn.calls.map(async ({ name, input }) => {
            // The program parses the model's text; a text that is not JSON becomes a call without arguments.
            const given = typeof input === 'string' ? {} : { arguments: { ...input } };
            return textOf(await client.callTool({ name, ...given }));
          }),
        );
      }
      await client.close();
      return seen;
    },
  };
}

// Other tests of the MCP server run over both versions of the protocol.
for (const era of depth<readonly Era[]>(ERAS.slice(-1), ERAS))
  describeAgentAdapter(
    `MCP (${era === 'legacy' ? '2025-11-25' : '2026-07-28'})`,
    () => driver(era),
    depth('few', 'all'),
  );
