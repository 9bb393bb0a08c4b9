import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import { isDeep } from '../depth.ts';
import { machine, put } from './run.ts';

const FILESYSTEM = resolve('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
const FIXTURE = resolve('test/tools/upstream/fixture-server.ts');
const CONFIG = `specs: specs
upstream:
  files: { command: ["${process.execPath}", "${FILESYSTEM}", .] }
`;
const work = (...tools: string[]) => `id: work
purpose: Works by another server's tools.
tools: [${tools.join(', ')}]
scope: { paths: [src/] }
entry: default
exit: { done: work }
`;

it('hopgate upstream prints entries for tools.yaml that load, and its list reports them as valid', async () => {
  const here = machine({ 'hopgate.yaml': CONFIG, 'specs/peripherals/work.yaml': work('read'), 'src/a.ts': '' });
  expect((await here.run('trust', '--yes')).code).toBe(0);
  const { code, out, err } = await here.run('upstream', 'import', 'files');
  expect(code).toBe(0);
  expect(err).toContain('14 tools');
  const parsed = parseSpecSet([
    { file: 'tools.yaml', text: out },
    { file: 'peripherals/work.yaml', text: work('files-read-text-file', 'files-write-file') },
  ]);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { tools } = parsed.specs;
  expect(Object.keys(tools)).toHaveLength(14);
  expect(tools['files-read-text-file']).toMatchObject({
    effect: 'observe',
    parameters: [
      { name: 'path', role: 'path:read', required: true },
      { name: 'tail' },
      { name: 'head', required: false },
    ],
    upstream: { server: 'files', tool: 'read_text_file', schemaHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  expect(tools['files-write-file']).toMatchObject({
    effect: 'act',
    parameters: [{ role: 'path:write' }, { role: 'text' }],
  });
  expect(tools['files-move-file']).toMatchObject({ parameters: [{ role: 'path:write' }, { role: 'path:write' }] });
  expect(tools['files-edit-file']).toMatchObject({ parameters: [{}, {}, { name: 'dry-run', as: 'dryRun' }] });
  expect(out.match(/CHECK the role/g)!.length).toBeGreaterThan(14);

  put(here.root, { 'specs/tools.yaml': out, 'specs/peripherals/work.yaml': work('files-read-text-file') });
  expect((await here.run('trust', '--yes')).code).toBe(0);
  const listed = await here.run('upstream', 'list');
  expect(listed).toMatchObject({ code: 0, out: expect.stringContaining('14 tools, 14 of them used by the specs') });
});

it.runIf(isDeep)(
  'hopgate upstream reports missing and changed tools, other arguments, and servers that are down',
  async () => {
    const tool = (id: string, theirs: string, more = '', parameters = '[]') =>
      `  ${id}:\n    purpose: as tested\n    effect: observe\n    upstream: { server: ${id.split('-')[0]}, tool: ${theirs}${more} }\n    parameters: ${parameters}\n    limits: { seconds: 1, output-bytes: 1000 }\n`;
    const here = machine({
      'hopgate.yaml': `specs: specs\nupstream:\n  fix: { command: ["${process.execPath}", "${FIXTURE}"] }\n  gone: { command: [/no/such/program] }\n`,
      'specs/peripherals/work.yaml': work('fix-echo'),
      'specs/tools.yaml': [
        'tools:\n',
        tool('fix-echo', 'echo', '', '[{ name: text, role: text, description: A text. }]'),
        tool('fix-lost', 'no_such_tool'),
        tool('fix-other', 'echo', `, schema-hash: ${'ab'.repeat(32)}`),
        tool('fix-strange', 'echo', '', '[{ name: volume, role: text, description: How loud. }]'),
        tool('gone-echo', 'echo'),
        tool('nowhere-echo', 'echo'),
      ].join(''),
    });
    expect((await here.run('trust', '--yes')).code).toBe(0);
    const { code, out } = await here.run('upstream', 'list', '--json');
    expect(code).toBe(1);
    const { servers, tools } = JSON.parse(out) as { servers: object[]; tools: { tool: string; standing: string }[] };
    expect(servers).toMatchObject([
      { name: 'fix', problem: null },
      { name: 'gone', problem: expect.stringContaining('is down') },
    ]);
    expect(Object.fromEntries(tools.map(({ tool, standing }) => [tool, standing]))).toEqual({
      'fix-echo': 'ok',
      'fix-lost': 'missing',
      'fix-other': 'changed',
      'fix-strange': 'differs',
      'gone-echo': 'unknown',
      'nowhere-echo': 'unknown',
    });
    expect((await here.run('upstream', 'list')).out).toContain('the server knows no argument "volume"');
  },
);

it('hopgate upstream says after two seconds that it waits for a server that does not start', async () => {
  const here = machine({ 'hopgate.yaml': 'upstream: { mute: { command: [tail, -f, /dev/null] } }\n' });
  await here.run('trust', '--yes');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let ended = false;
  const list = here.run('upstream', 'list').finally(() => {
    ended = true;
  });
  while (!ended) {
    await vi.advanceTimersByTimeAsync(500);
    await new Promise(setImmediate);
  }
  const { err, out } = await list;
  expect(err).toContain('waiting for the upstream "mute" to start, at most 60 s');
  expect(out).toContain('down');
});

it('hopgate upstream starts no program of an untrusted hopgate.yaml', async () => {
  const here = machine({ 'hopgate.yaml': 'upstream: { bad: { command: [touch, started] } }\n' });
  for (const argv of [['import', 'bad'], ['list']]) {
    const ran = await here.run('upstream', ...argv);
    expect(ran.err).toContain('hopgate trust');
  }
  expect(existsSync(join(here.root, 'started'))).toBe(false);
});

it('hopgate upstream starts no program that an agent may write', async () => {
  const here = machine({
    'hopgate.yaml': `scopes: { edit: [src/] }\nupstream: { mine: { command: ["${process.execPath}", src/server.js] } }\n`,
    'src/server.js': 'require("node:fs").writeFileSync("started", "")',
  });
  await here.run('trust', '--yes');
  expect(await here.run('upstream', 'import', 'mine')).toMatchObject({
    code: 1,
    err: expect.stringContaining('src/server.js'),
  });
});

it('hopgate upstream answers an unknown name with the known ones', async () => {
  const here = machine({ 'hopgate.yaml': CONFIG.replace('specs: specs\n', '') });
  await here.run('trust', '--yes');
  expect(await here.run('upstream', 'import', 'file')).toMatchObject({
    code: 1,
    err: expect.stringContaining('did you mean "files"?'),
  });
});
