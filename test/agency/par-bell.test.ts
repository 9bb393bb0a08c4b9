import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { applyUpdate, Doc, encodeStateAsUpdate } from 'yjs';
import { reviewContributionsOf, setReviewContribution } from '../../src/agency/par/review-document.ts';
import { joinReviewDocument, runReviewParticipants } from '../../src/agency/par/run-participants.ts';
import { type ReviewDocumentServer, serveReviewDocument } from '../../src/agency/par/serve-document.ts';
import { depth, isDeep } from '../depth.ts';
import { serveWorld, until } from '../server/serve-world.ts';
import { breakingWire, countingAgent, folder, nodeWith, PAR_PARTICIPANT } from './agency-nodes.ts';

const TOKEN = 'secret';
async function served(file = join(folder(), 'par.db'), port: number | null = null): Promise<ReviewDocumentServer> {
  const options = { file, name: 'd1', host: '127.0.0.1', port, admits: (token: string) => token === TOKEN };
  const server = await serveReviewDocument(options);
  onTestFinished(() => server.close().catch(() => {}));
  return server;
}
const addressOf = ({ port }: { readonly port: number }): string => `ws://127.0.0.1:${port}`;

describe('the shared document of a review', () => {
  it('has every contribution on every replica, in whatever order and however often updates arrive', () => {
    const words = fc.dictionary(fc.string({ minLength: 1 }), fc.string(), {
      minKeys: 1,
      maxKeys: 6,
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(words, fc.infiniteStream(fc.nat()), (contributions, draws) => {
        const updates = Object.entries(contributions).map(([agent, text]) => {
          const doc = new Doc();
          setReviewContribution(doc, agent, text);
          return encodeStateAsUpdate(doc);
        });
        const drawn = (below: number): number => draws.next().value! % below;
        const replicas = [new Doc(), new Doc(), new Doc()];
        for (const replica of replicas) {
          const order = [...updates, ...updates].map((update) => [drawn(1_000), update] as const);
          for (const [, update] of order.sort(([a], [b]) => a - b)) applyUpdate(replica, update);
          expect({ ...reviewContributionsOf(replica) }).toEqual(contributions);
        }
      }),
    );
  });

  it('keeps one text of an agent that wrote twice, the same on each replica', async () => {
    const server = await served();
    const [one, two] = await Promise.all([1, 2].map(() => joinReviewDocument(addressOf(server), 'd1', TOKEN)));
    setReviewContribution(one!.doc, 'a', 'first');
    setReviewContribution(two!.doc, 'a', 'second');
    setReviewContribution(two!.doc, 'b', 'other');
    await until(() => [one!, two!].every(({ doc }) => reviewContributionsOf(doc)['b'] !== undefined));
    await until(() => reviewContributionsOf(one!.doc)['a'] === reviewContributionsOf(two!.doc)['a']);
    one!.leave();
    two!.leave();
  });

  it('reaches a replica whose connection breaks, wherever it breaks', async () => {
    const server = await served();
    for (let up = 0; up < 400; up += depth(97, 7)) {
      const wire = await breakingWire(server.port, { up });
      const replica = await joinReviewDocument(`ws://127.0.0.1:${wire.port}`, 'd1', TOKEN);
      setReviewContribution(replica.doc, `agent ${up}`, 'words');
      await server.contributionStored(`agent ${up}`);
      replica.leave();
    }
  });

  it('refuses a wrong token, another document, and a browser', async () => {
    const server = await served();
    const status = (path: string, headers: Record<string, string>) =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${addressOf(server)}${path}`, { headers });
        socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode));
        socket.on('error', () => {});
        socket.on('open', () => resolve(101));
      });
    const right = { authorization: `Bearer ${TOKEN}` };
    expect(await status('/d1', { authorization: 'Bearer wrong' })).toBe(401);
    expect(await status('/d1', {})).toBe(401);
    expect(await status('/d2', right)).toBe(404);
    expect(await status('/d1', { ...right, origin: 'http://127.0.0.1' })).toBe(403);
    expect(await status('/d1', right)).toBe(101);
  });

  it('closes a connection that sends an invalid message, and keeps the others', async () => {
    const server = await served();
    const socket = new WebSocket(`${addressOf(server)}/d1`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('open', () => socket.send(Buffer.from([0, 2, 255, 255, 255, 255])));
    expect(await closed).toBe(1002);
    const replica = await joinReviewDocument(addressOf(server), 'd1', TOKEN);
    setReviewContribution(replica.doc, 'a', 'words');
    await server.contributionStored('a');
    replica.leave();
  });
});

describe('par-bell', () => {
  const options = (
    document: ReviewDocumentServer,
    run: Parameters<typeof runReviewParticipants>[0]['run'],
    agents = ['x', 'y'],
  ) => ({
    agents,
    par: 'd1',
    title: 'Debrief',
    session: 's1',
    document,
    continued: false,
    token: TOKEN,
    run,
  });

  it('gives each agent the address of the document, and collects the answers', async () => {
    const agent = await countingAgent();
    const node = nodeWith(
      `x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }\ny: { location: local, driver: scripted, replies: [from y] }`,
    );
    const document = await served();
    const run = (request: Parameters<typeof node.run>[0], key: string) =>
      node.run(request, { key, budgetMs: null, via: [] });
    const all = await runReviewParticipants(options(document, run, ['x', 'y', 'z']));
    expect([all.outcome, document.contributions()]).toEqual(['partial', { x: 'a view', y: 'from y' }]);
    expect(all.replies['z']).toMatchObject({ ok: false, error: { code: 'unknown-agent' } });
    expect(agent.prompts[0]).toContain(`PAR: Debrief\nCRDT: 127.0.0.1:${document.port}\nSession: s1`);
  });

  it('asks only the failed agent once more when the review continues', async () => {
    const document = await served();
    const asked: string[] = [];
    const fails = new Set(['y']);
    const reply = (agent: string) => ({
      meta: { 'agent-id': agent, 'duration-ms': 1 },
      ...(fails.has(agent)
        ? { ok: false as const, error: { code: 'agent-failed' as const, message: 'it crashed', remedy: 'Look.' } }
        : { ok: true as const, response: `from ${agent}` }),
    });
    const known = new Map<string, ReturnType<typeof reply>>();
    const run: Parameters<typeof runReviewParticipants>[0]['run'] = async ({ 'agent-id': agent }, key) => {
      if (!known.has(key)) asked.push(agent);
      const text = known.get(key) ?? reply(agent);
      known.set(key, text);
      return text;
    };
    expect((await runReviewParticipants(options(document, run))).outcome).toBe('partial');
    fails.clear();
    expect((await runReviewParticipants({ ...options(document, run), continued: true })).outcome).toBe('all');
    expect([asked, document.contributions()]).toEqual([['x', 'y', 'y'], { x: 'from x', y: 'from y' }]);
  });

  it.runIf(isDeep)('continues after its process was killed, and asks no contributor again', async () => {
    const slow = await countingAgent(60_000);
    const state = folder();
    const agency = join(state, 'agency');
    const env = { ...process.env, HOME: state, XDG_STATE_HOME: join(state, 'state'), XDG_CONFIG_HOME: state };
    mkdirSync(agency);
    writeFileSync(join(agency, 'peripherals.edn'), PAR_PARTICIPANT);
    const agents = (y: string) =>
      writeFileSync(join(agency, 'agents.yaml'), `x: { location: local, driver: scripted, replies: [from x] }\n${y}\n`);
    agents(`y: { location: local, driver: http, url: "${slow.url}", honours: [fs, shell, http] }`);
    const root = folder();
    const cli = (...args: string[]) =>
      spawn(
        process.execPath,
        ['src/cli/main.ts', 'par-bell', '--root', root, '--agency', agency, '--agents', 'x,y', '--json', ...args],
        { env, stdio: ['ignore', 'pipe', 'pipe'] },
      );
    const first = cli('--par', 'd1', '--title', 'Debrief');
    let output = '';
    first.stderr.on('data', (data) => (output += data));
    await until(() => output.includes('x: contributed') && slow.prompts.length === 1);
    first.kill('SIGKILL');
    await new Promise((resolve) => first.on('exit', resolve));
    agents('y: { location: local, driver: scripted, replies: [from y] }');
    const again = cli('--par', 'd1');
    let [out, err] = ['', ''];
    again.stdout.on('data', (data) => (out += data));
    again.stderr.on('data', (data) => (err += data));
    expect(await new Promise((resolve) => again.on('exit', resolve)), err).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ title: 'Debrief', contributions: { x: 'from x', y: 'from y' } });
    expect(err).not.toContain('x: contributed');
  });

  it.runIf(isDeep)('adds nothing to a session of hopgate', async () => {
    const served = await serveWorld();
    const { id } = await served.session();
    const args = ['par-bell', '--root', served.root, '--agents', 'x', '--par', id];
    const ran = spawnSync(process.execPath, ['src/cli/main.ts', ...args], { env: served.env, encoding: 'utf8' });
    expect([ran.status, ran.stderr]).toEqual([1, expect.stringContaining(`Use --session ${id} to review it`)]);
  });
});
