import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifySession } from '../../../src/audit/verify/verify-session.ts';
import { openSession } from '../../../src/open-session.ts';
import type { Session } from '../../../src/session/session.ts';
import { loadBuiltInCatalogue } from '../../../src/spec/load/load-specs.ts';
import { parseSpecSet } from '../../../src/spec/resolve/parse-spec-set.ts';
import type { Json, ProjectConfig, SpecSet } from '../../../src/spec/types.ts';
import { memoryStore } from '../../../src/stores/memory.ts';

const FILESYSTEM = join(process.cwd(), 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

const TOOLS = `tools:
  files-read:
    purpose: Reads a file.
    effect: observe
    upstream: { server: files, tool: read_text_file }
    parameters:
      - { name: path, role: path:read, description: The file. }
      - { name: first, as: head, role: text, schema: { type: integer }, description: Only so many lines., optional: true }
    limits: { seconds: 20, output-bytes: 65536 }
  files-read-many:
    purpose: Reads files.
    effect: observe
    upstream: { server: files, tool: read_multiple_files }
    parameters:
      - { name: paths, role: path:read, schema: { type: array, items: { type: string } }, description: The files. }
    limits: { seconds: 20, output-bytes: 65536 }
  files-tree:
    purpose: Shows what lies in a folder, by name.
    effect: observe
    upstream: { server: files, tool: directory_tree, folders: names }
    parameters:
      - { name: path, role: path:read, description: The folder. }
    limits: { seconds: 20, output-bytes: 65536 }
  files-list:
    purpose: Lists a folder.
    effect: observe
    upstream: { server: files, tool: list_directory }
    parameters:
      - { name: path, role: path:read, description: The folder. }
    limits: { seconds: 20, output-bytes: 65536 }
  files-write:
    purpose: Writes a file.
    effect: act
    upstream: { server: files, tool: write_file }
    parameters:
      - { name: path, role: path:write, description: The file. }
      - { name: content, role: text, description: Its content. }
    limits: { seconds: 20, output-bytes: 65536 }
  files-move:
    purpose: Moves a file.
    effect: act
    upstream: { server: files, tool: move_file }
    parameters:
      - { name: source, role: path:write, description: The file. }
      - { name: destination, role: path:write, description: Where to. }
    limits: { seconds: 20, output-bytes: 65536 }
  files-gone:
    purpose: Stands for a tool that the server does not have.
    effect: observe
    upstream: { server: files, tool: no_such_tool }
    parameters: []
    limits: { seconds: 20, output-bytes: 65536 }
`;
const WORK = `id: work
purpose: Works by another server's tools.
tools: [files-read, files-read-many, files-tree, files-list, files-write, files-move, files-gone]
scope: { paths: [src/] }
entry: default
exit: { done: work }
`;

let base: string;
let root: string;
let session: Session;
let specs: SpecSet;
const store = memoryStore();

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-upstream-')));
  root = join(base, 'root');
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  mkdirSync(join(base, 'beside'));
  const parsed = parseSpecSet(
    [
      { file: 'tools.yaml', text: TOOLS },
      { file: 'peripherals/work.yaml', text: WORK },
    ],
    await loadBuiltInCatalogue(),
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  specs = parsed.specs;
  const config: Partial<ProjectConfig> = {
    // The server gets more than the root, so that only hopgate keeps an agent from the files outside it.
    upstream: { files: { command: [process.execPath, FILESYSTEM, base], env: {}, cwd: null, contained: false } },
  };
  session = await openSession({ root, agent: 'a', store, specs, config });
  await session.start('work');
});
afterAll(async () => {
  await session.detach();
  rmSync(base, { recursive: true, force: true });
});
beforeEach(() => {
  writeFileSync(join(root, 'src/main.ts'), 'one\ntwo\nthree\n');
  writeFileSync(join(root, 'README.md'), 'read me\n');
  writeFileSync(join(root, '.env'), 'TOKEN=planted-secret\n');
  writeFileSync(join(base, 'beside/secret.txt'), 'planted-secret\n');
});

const step = async (tool: string, args: { readonly [name: string]: Json }) => session.step({ tool, args });
const text = (result: unknown): string => JSON.stringify(result);

describe('a tool of the real filesystem server', () => {
  it('reads a file by its path in the root, with the argument name of the spec', async () => {
    const read = await step('files-read', { path: 'src/main.ts', first: 2 });
    expect(read).toMatchObject({ ok: true, outcome: 'ok', result: { content: [{ type: 'text', text: 'one\ntwo' }] } });
    expect(read.evidence[0]!.body).toMatchObject({ event: 'step', effects: [{ path: 'src/main.ts', op: 'read' }] });
  });

  it('accepts a list of paths, also an absolute one in the root', async () => {
    const read = await step('files-read-many', { paths: ['src/main.ts', join(root, 'README.md')] });
    expect(text(read)).toContain('read me');
    expect(text(read)).toContain('three');
  });

  it('writes in the scope; its effects count as unobserved, but the result names the changed files', async () => {
    const written = await step('files-write', { path: './src/deep/../new.ts', content: 'new\n' });
    expect(written).toMatchObject({ ok: true, outcome: 'ok' });
    expect(readFileSync(join(root, 'src/new.ts'), 'utf8')).toBe('new\n');
    expect(written.evidence.map(({ body }) => body)).toMatchObject([
      { event: 'intent', args: { path: './src/deep/../new.ts' } },
      {
        event: 'outcome',
        effects: 'unobserved',
        outcome: {
          result: { changed: [{ path: 'src/new.ts', op: 'create', after: expect.stringMatching(/^[0-9a-f]{64}$/) }] },
        },
      },
    ]);
    const moved = await step('files-move', { source: 'src/new.ts', destination: 'src/moved.ts' });
    expect(moved).toMatchObject({
      result: {
        changed: [
          { path: 'src/new.ts', op: 'delete' },
          { path: 'src/moved.ts', op: 'create' },
        ],
      },
    });
  });

  it.each([
    ['files-write', { path: 'README.md', content: 'x' }, 'outside the scope'],
    ['files-write', { path: 'src-evil/a.ts', content: 'x' }, 'a name that only begins like the scope'],
    ['files-write', { path: 'src/../../beside/new.txt', content: 'x' }, 'a climb out of the root'],
    ['files-write', { path: 'src/.git/config', content: 'x' }, 'a file of git'],
    ['files-write', { path: 'src/.claude/settings.json', content: 'x' }, 'settings of an agent'],
    ['files-write', { path: 'src/.env', content: 'x' }, 'a masked name'],
    ['files-move', { source: 'src/main.ts', destination: 'main.ts' }, 'a destination outside the scope'],
    ['files-move', { source: '.env', destination: 'src/env.txt' }, 'a masked source'],
    ['files-read', { path: '../beside/secret.txt' }, 'a climb out of the root'],
    ['files-read', { path: 'src/../../beside/secret.txt' }, 'a climb by way of the scope'],
    ['files-read', { path: '.env' }, 'a masked file'],
    ['files-read', { path: 'src/\u0000' }, 'a NUL'],
    ['files-read-many', { paths: ['src/main.ts', '.env'] }, 'one masked file in a list'],
    ['files-read-many', { paths: ['src/main.ts', '../beside/secret.txt'] }, 'one path in a list that leads out'],
    ['files-list', { path: '.' }, 'a folder with a masked file beneath it'],
  ])('refuses %s %j: %s', async (tool, args, _what) => {
    const before = [existsSync(join(base, 'beside/new.txt')), readFileSync(join(root, 'README.md'), 'utf8')];
    const refused = await step(tool, args as { [name: string]: Json });
    expect(refused).toMatchObject({ ok: false, denial: { remedy: expect.stringMatching(/\S/) } });
    expect(text(refused)).not.toContain('planted-secret');
    expect([existsSync(join(base, 'beside/new.txt')), readFileSync(join(root, 'README.md'), 'utf8')]).toEqual(before);
  });

  it('refuses an absolute path outside the root', async () => {
    const refused = await step('files-read', { path: join(base, 'beside/secret.txt') });
    expect(refused).toMatchObject({ ok: false, denial: { code: 'out-of-scope' } });
  });

  it.each([
    ['to a file outside', () => symlinkSync(join(base, 'beside/secret.txt'), join(root, 'src/link'))],
    ['by a folder outside', () => symlinkSync('../../beside/secret.txt', join(root, 'src/link'))],
    ['to a masked file', () => symlinkSync('../.env', join(root, 'src/link'))],
  ])('refuses a link %s for reading and writing', async (_what, make) => {
    make();
    try {
      for (const [tool, args] of [
        ['files-read', { path: 'src/link' }],
        ['files-write', { path: 'src/link', content: 'overwritten' }],
        ['files-list', { path: 'src' }],
      ] as const)
        expect(await step(tool, args)).toMatchObject({ ok: false, denial: { code: 'out-of-scope' } });
      expect(readFileSync(join(base, 'beside/secret.txt'), 'utf8')).toBe('planted-secret\n');
    } finally {
      rmSync(join(root, 'src/link'));
    }
  });

  it('refuses to write a file with several names', async () => {
    linkSync(join(root, 'README.md'), join(root, 'src/hard'));
    expect(await step('files-write', { path: 'src/hard', content: 'x' })).toMatchObject({ ok: false });
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toBe('read me\n');
    rmSync(join(root, 'src/hard'));
  });

  it('follows a link within the root to its target', async () => {
    symlinkSync('main.ts', join(root, 'src/inside'));
    const read = await step('files-read', { path: 'src/inside' });
    expect(read.evidence[0]!.body).toMatchObject({ effects: [{ path: 'src/main.ts', op: 'read' }] });
    rmSync(join(root, 'src/inside'));
  });

  it('lists a folder without masked files, and any folder if the spec says that the tool shows only names', async () => {
    expect(text(await step('files-list', { path: 'src' }))).toContain('main.ts');
    expect(text(await step('files-tree', { path: '.' }))).toContain('README.md');
  });

  it('fails with the server’s own message', async () => {
    expect(await step('files-read', { path: 'src/no-such.ts' })).toMatchObject({
      ok: true,
      outcome: 'failed',
      error: { code: 'upstream-error', message: expect.stringContaining('ENOENT') },
      result: { isError: true },
    });
    expect(await step('files-gone', {})).toMatchObject({ error: { code: 'upstream-tool-missing' } });
  });

  it('is unavailable if the spec does not name it', async () => {
    expect(await step('directory_tree', { path: '.' })).toMatchObject({ ok: false, denial: { code: 'unknown-tool' } });
  });

  it('is served by the pinned configuration when the session is resumed', async () => {
    const other = await openSession({ root, agent: 'a', store, specs, config: session.config });
    await other.start('work');
    await other.detach();
    const resumed = await openSession({ root, agent: 'a', store, session: other.id });
    expect(text(await resumed.step({ tool: 'files-read', args: { path: 'src/main.ts' } }))).toContain('three');
    await resumed.detach();
  });

  it('is a gap in the audit after it acted, but no violation', async () => {
    await step('files-write', { path: 'src/audited.ts', content: 'x' });
    const verdict = await verifySession(session.id, { specs, config: session.config }, store.entries(session.id));
    expect(verdict).toMatchObject({ ok: true, audit: { violations: [] } });
    expect(verdict.audit.gaps).toContainEqual(expect.objectContaining({ kind: 'unobserved' }));
  });
});
