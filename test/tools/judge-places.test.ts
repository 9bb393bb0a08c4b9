import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSession, type ToolBackend } from '../../src/index.ts';

let folder = '';
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-places-')));
  for (const path of ['root/src', 'root/docs', 'specs/peripherals', 'out'])
    mkdirSync(join(folder, path), { recursive: true });
  for (const path of ['root/src/ok.txt', 'root/docs/read.txt', 'root/.env', 'out/secret'])
    writeFileSync(join(folder, path), 'x');
  const links = { 'src/out': '../../out', 'src/file': '../../out/secret', 'src/env': '../.env', 'src/doc': '../docs' };
  for (const [link, to] of Object.entries(links)) symlinkSync(to, join(folder, 'root', link));
  writeFileSync(
    join(folder, 'specs/tools.yaml'),
    `tools:
  peek: { purpose: P., effect: observe, parameters: [{ name: at, role: path:read, description: P., optional: true }], limits: { seconds: 5, output-bytes: 99 } }
  all: { purpose: P., effect: observe, parameters: [{ name: at, role: path:read, description: P., schema: { type: array, items: { type: string } } }], limits: { seconds: 5, output-bytes: 99 } }
  put: { purpose: P., effect: act, parameters: [{ name: at, role: path:write, description: P. }], limits: { seconds: 5, output-bytes: 99 } }
`,
  );
  writeFileSync(
    join(folder, 'specs/peripherals/work.yaml'),
    'id: work\npurpose: P.\ntools: [peek, all, put]\nscope: { paths: [src/] }\nentry: default\nexit: []\n',
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

class Mine implements ToolBackend {
  readonly name = 'mine';
  readonly tools = ['peek', 'all', 'put'];
  readonly ran: string[] = [];
  #isClosed = false;
  async run({ tool, args }: Parameters<ToolBackend['run']>[0]) {
    this.ran.push(`${tool.id} ${args['at'] ?? ''}`);
    return { outcome: { status: 'ok', result: null }, effects: [] } as const;
  }
  async close() {
    this.#isClosed = true;
  }
  get isClosed() {
    return this.#isClosed;
  }
}

it.each([
  ['alone', (mine: ToolBackend) => [mine]],
  ['before the real tools', (mine: ToolBackend) => (real: readonly ToolBackend[]) => [mine, ...real]],
] as const)('a call with a link out of the scope never reaches the backend of a user: %s', async (_, backends) => {
  const mine = new Mine();
  const specs = join(folder, 'specs');
  const session = await openSession({
    root: join(folder, 'root'),
    agent: 'a',
    store: 'memory',
    specs,
    telemetry: true,
    backends: backends(mine),
  });
  await session.start('work');
  const answers: string[] = [];
  for (const [tool, ...at] of [
    ['peek', 'src/ok.txt'],
    ['peek'],
    ['peek', 'src/doc/read.txt'],
    ['peek', 'src/new.txt'],
    ['put', 'src/new.txt'],
    ['peek', 'src/out/secret'],
    ['peek', 'src/file'],
    ['peek', 'src/env'],
    ['put', 'src/file'],
    ['put', 'src/out/new'],
    ['put', 'src/doc/read.txt'],
  ] as const) {
    const done = await session.step({ tool, args: at });
    answers.push(done.ok ? 'ok' : done.denial.code);
  }
  const many = await session.step({ tool: 'all', args: [['src/ok.txt', 'src/file']] });
  answers.push(many.ok ? 'ok' : many.denial.message);
  expect(answers).toEqual([
    ...Array<string>(5).fill('ok'),
    ...Array<string>(6).fill('out-of-scope'),
    expect.stringContaining('leads out of the root by the link src/file'),
  ]);
  expect(mine.ran).toEqual([
    'peek src/ok.txt',
    'peek ',
    'peek src/doc/read.txt',
    'peek src/new.txt',
    'put src/new.txt',
  ]);
  await session.detach();
  expect(mine.isClosed).toBe(true);
});
