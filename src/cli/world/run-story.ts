import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/client';
import type { AgentSession } from '../../adapters/core/agent-session.ts';
import { agentSession } from '../../adapters/core/local-agent-session.ts';
import { type RecordedSession, recordTranscript } from '../../adapters/core/transcript/record-transcript.ts';
import { transcriptPath, transcriptTo } from '../../adapters/core/transcript/transcript-file.ts';
import type { Entry } from '../../evidence/entry.ts';
import { parseTranscript, type Transcript } from '../../evidence/transcript.ts';
import { openEvidenceFile } from '../../open-evidence.ts';
import { openSession } from '../../open-session.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import { ensureStateDir, evidenceFileIn } from '../../project/state-dir.ts';
import type { Session } from '../../session/session.ts';
import { loadBuiltInCatalogue } from '../../spec/load/load-specs.ts';
import { parseSpecSet } from '../../spec/resolve/parse-spec-set.ts';
import type { ProjectConfig, SpecSet } from '../../spec/types.ts';
import { generateHouse } from '../../world/generate-house.ts';
import { serveWorld } from '../../world/serve/world-server.ts';
import { hopgateCommandLine } from '../client/client-program.ts';
import type { Io } from '../io.ts';
import { sessionFromData } from './data-session.ts';
import { playScriptedAgent, type StoryOutcome } from './play-with-agent.ts';
import { connectOverHttp, connectOverShell } from './session-connections.ts';
import { playJoeByScript, playJoeInEmacs, type StoryParticipant, startAnsweringAgent } from './story-participants.ts';
import { storySpecs } from './story-specs.ts';

export interface StoryConnectionKinds {
  readonly world: 'here' | 'http' | 'openenv';
  readonly agent: 'here' | 'mcp-http' | 'mcp-stdio' | 'rest' | 'cli';
}

export interface PlayedStory {
  readonly session: string;
  readonly end: StoryOutcome;
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
  readonly entries: readonly Entry[];
  readonly transcript: Transcript;
}

interface StorySetting extends StoryConnectionKinds {
  readonly root: string;
  readonly seed: number;
  /** The environment; its state folder gets the evidence and the transcript. */
  readonly env: Io['env'];
  /** The person: a script, or one in `emacs --batch`. */
  readonly joe: 'script' | 'emacs';
  readonly printLine: (line: string) => void;
}

/** Plays the story of {@link playScriptedAgent}. A served world is restarted while the agent is in chat. */
export async function playStoryOnce({
  root,
  env,
  seed,
  joe,
  printLine,
  world,
  agent,
}: StorySetting): Promise<PlayedStory> {
  const { hint } = generateHouse({ seed, asks: true });
  const serve = (port: number) => serveWorld({ choice: { seed, asks: true }, port });
  let server = world === 'here' ? null : await serve(0);
  if (server) printLine(`A world is served at ${server.address}.`);
  const address = server?.address ?? '';
  const folder = ensureStateDir(root, env);
  const store = openEvidenceFile(evidenceFileIn(folder), 'create');
  const answer = `The ${hint}.`;
  const participants: StoryParticipant[] = [];
  try {
    const specs = await specsFor(
      server
        ? `:alfworld-server "${world === 'openenv' ? address.replace('http', 'ws') : address}"`
        : `:seed ${seed} :asks true`,
    );
    const codex = await openSession({ root, agent: 'codex', store, specs });
    await codex.start('desk');
    participants.push(startAnsweringAgent(codex, 'Open it. The answer names what is in it.'), {
      end: () => codex.detach(),
    });
    participants.push(
      joe === 'emacs'
        ? await playJoeInEmacs({ root, env, store, printLine }, answer)
        : await playJoeByScript(store, answer),
    );
    const opened = await openSession({ root, agent: 'claude', store, specs });
    await opened.start('chat');
    const file = transcriptPath(folder, opened.id);
    const recorded = recordTranscript(await sessionFor(opened, agent, { root, env }), transcriptTo(file));
    let connected: ConnectedAgent = { session: recorded, close: async () => {} };
    if (agent === 'mcp-http') connected = await overHttp(recorded);
    if (agent === 'mcp-stdio') {
      await opened.detach();
      connected = await overStdio(recorded, { root, env });
    }
    const end = await playScriptedAgent(connected.session, {
      printLine,
      async asked() {
        if (server) {
          await server.close();
          server = await serve(Number(new URL(address).port));
          printLine('(Meanwhile the world was ended and started again.)');
        }
        await waitForAnswer(store, `session:${opened.id}`);
      },
    }).catch(async (error: unknown) => {
      await recorded.close();
      throw error;
    });
    await connected.close();
    const resumed = await openSession({ root, agent: 'claude', store, session: opened.id });
    const entries = await resumed.evidence();
    const { config } = resumed;
    await resumed.detach();
    return { session: opened.id, end, specs, config, entries, transcript: parseTranscript(readFileSync(file, 'utf8')) };
  } finally {
    for (const { end: ended } of participants) await ended();
    await server?.close();
    await store.close();
  }
}

/** Waits until a person's answer is in an inbox. */
async function waitForAnswer({ messages }: EvidenceStore, address: string): Promise<void> {
  const until = Date.now() + ANSWER_MS;
  while (Date.now() < until) {
    const inbox = await messages!.inbox(address);
    if (inbox.some(({ from, act }) => from === 'person:joe' && act === 'answer')) return;
    await sleep(25);
  }
  throw new Error('joe did not answer in a minute');
}

const ANSWER_MS = 60_000;

async function specsFor(config: string): Promise<SpecSet> {
  const parsed = parseSpecSet(storySpecs(config), await loadBuiltInCatalogue());
  if (!parsed.ok) throw new Error(parsed.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  return parsed.specs;
}

/**
 * The session in this process, or over HTTP or the command line. For the last two, this process first releases the
 * session.
 */
async function sessionFor(
  opened: Session,
  agent: StoryConnectionKinds['agent'],
  { root, env }: Pick<StorySetting, 'root' | 'env'>,
): Promise<AgentSession> {
  const here = agentSession(opened);
  if (agent !== 'rest' && agent !== 'cli') return here;
  await opened.detach();
  const place = { session: opened.id, root, env };
  return sessionFromData(here, await (agent === 'rest' ? connectOverHttp : connectOverShell)(place));
}

interface ConnectedAgent {
  readonly session: RecordedSession;
  readonly close: () => Promise<void>;
}

/** Connects the agent by MCP over HTTP. Its words are recorded in this process, because MCP transfers only calls. */
async function overHttp(recorded: RecordedSession): Promise<ConnectedAgent> {
  const [{ StreamableHTTPClientTransport }, { McpHost }, { serveOverHttp }] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('../../adapters/mcp/mcp-host.ts'),
    import('../../adapters/mcp/serve-http.ts'),
  ]);
  const serving = await serveOverHttp(new McpHost({ session: recorded, version: '0' }), { token: null });
  const wired = await connectAgent(recorded, new StreamableHTTPClientTransport(new URL(serving.url)));
  return {
    ...wired,
    async close() {
      await wired.close();
      await serving.close();
    },
  };
}

/** Connects the agent to a separate process, `hopgate mcp`, which records only calls and results, no words. */
async function overStdio(
  released: RecordedSession,
  { root, env }: Pick<StorySetting, 'root' | 'env'>,
): Promise<ConnectedAgent> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const [command, ...args] = hopgateCommandLine();
  const variables = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const words = [...args, 'mcp', '--root', root, '--session', released.id];
  const transport = new StdioClientTransport({ command, args: words, env: variables, stderr: 'ignore' });
  const unrecorded = { ...released, said: () => {}, heard: () => {}, close: async () => {} };
  return connectAgent(unrecorded, transport);
}

async function connectAgent(recorded: RecordedSession, transport: Transport): Promise<ConnectedAgent> {
  const { Client } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'story', version: '0' });
  await client.connect(transport);
  const session: RecordedSession = {
    ...recorded,
    async tools() {
      await client.listTools();
      return [];
    },
    async prompt() {
      return client.getInstructions() ?? '';
    },
    async call({ name, input }) {
      const result = await client.callTool({ name, arguments: input as { [key: string]: unknown } });
      const text = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
      return { status: result.isError ? 'refused' : 'ok', text, data: null, denial: null, toolsChanged: false };
    },
  };
  return { session, close: () => client.close() };
}
