import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { agentSession } from '../../../../src/adapters/core/local-agent-session.ts';
import { serveOverHttp } from '../../../../src/adapters/mcp/serve-http.ts';
import { openSession } from '../../../../src/open-session.ts';
import { loadSpecs } from '../../../../src/spec/load/load-specs.ts';
import { isDeep } from '../../../depth.ts';
import { hostOf } from '../client.ts';

const here = import.meta.dirname;
const SUITE = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const BASELINE = join(here, 'baseline.yml');

/** A gateway in front of a server that has the tools of the scenarios. */
async function gateway(root: string): Promise<string> {
  const command = [process.execPath, join(here, 'upstream-server.ts')];
  const specs = await loadSpecs(join(here, 'specs'));
  const session = await openSession({
    root,
    agent: 'conformance',
    store: 'memory',
    specs,
    config: { upstream: { behind: { command, env: {}, cwd: null, contained: false } } },
  });
  expect(await session.start('conformance')).toMatchObject({ ok: true });
  const agent = agentSession(session);
  const reading = {
    spec: async () => specs,
    thread: async () => 'a thread',
    constraints: async () => ({}),
    inbox: async () => [],
    message: async () => null,
  };
  const host = hostOf(agent, { reading, upstreamNames: true, elicit: false });
  const serving = await serveOverHttp(host, { token: null });
  onTestFinished(async () => {
    await serving.close();
    await host.close();
  });
  return serving.url;
}

const suite = (argv: readonly string[], cwd: string) =>
  new Promise<{ code: number; out: string }>((done) => {
    execFile(
      process.execPath,
      [SUITE, 'server', ...argv],
      { cwd, timeout: 150_000, maxBuffer: 16 << 20 },
      (error, out, err) => done({ code: error === null ? 0 : Number(error.code ?? 1), out: out + err }),
    );
  });

it.runIf(isDeep)(
  'the gateway passes the conformance suite except for the listed failures',
  async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-conformance-')));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const url = await gateway(root);
    const { code, out } = await suite(['--url', url, '--suite', 'all', '--expected-failures', BASELINE], root);
    // A scenario that fails and is not in the baseline, and one that is and does not fail, both end with 1.
    expect(code, out).toBe(0);
  },
  180_000,
);

it('every expected failure has a reason', () => {
  const entries = readFileSync(BASELINE, 'utf8')
    .split('\n')
    .filter((line) => /^\s+- /.test(line));
  expect(entries.length).toBeGreaterThan(0);
  for (const entry of entries) expect(entry).toMatch(/^ {2}- [a-z0-9-]+ # \S.{20,}/);
});
