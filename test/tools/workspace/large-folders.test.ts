import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { workspaceBackend } from '../../../src/tools/workspace/workspace-backend.ts';
import { toolCall } from '../shell/tool-call.ts';

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>();
  return { ...real, readdirSync: vi.fn(real.readdirSync) };
});

const backend = workspaceBackend();
const scope = { read: 'root', write: ['src/'], command: 'none', url: 'none' } as const;
const write = (root: string, name: string) =>
  backend.run(toolCall(root, 'write', { path: `src/${name}`, content: 'a' }, { envelope: { scope } }));

function repository(): string {
  const root = fs.mkdtempSync(join(tmpdir(), 'hopgate-large-'));
  fs.mkdirSync(join(root, 'src'));
  return root;
}

it('a write reads no folder that only this process has changed, so that its cost does not grow with the folder', async () => {
  const root = repository();
  await write(root, 'a.ts');
  vi.mocked(fs.readdirSync).mockClear();
  expect(await write(root, 'b.ts')).toMatchObject({ outcome: { status: 'ok' } });
  expect(await write(root, 'a.ts')).toMatchObject({ outcome: { status: 'ok' } });
  expect(vi.mocked(fs.readdirSync)).not.toHaveBeenCalled();
});

it('a write removes temporary files that another engine left since the last write', async () => {
  const root = repository();
  await write(root, 'a.ts');
  fs.writeFileSync(join(root, 'src/.hopgate-4194303-0123456789abcdef.tmp'), 'half');
  fs.utimesSync(join(root, 'src'), 1, 1);
  await write(root, 'b.ts');
  expect(fs.readdirSync(join(root, 'src')).sort()).toEqual(['a.ts', 'b.ts']);
});
