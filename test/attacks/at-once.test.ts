import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { detectSandbox } from '../../src/tools/sandbox/detect-sandbox.ts';
import { makeEditLayout, makeReadOnlyLayout } from '../../src/tools/sandbox/mounts/tool-layouts.ts';
import { shellBackend } from '../../src/tools/shell/shell-backend.ts';
import { depth, isDeep } from '../depth.ts';
import { toolCall } from '../tools/shell/tool-call.ts';
import { processesWith, treeHash } from './attacked-machine.ts';

const AT_ONCE = depth(8, 200);

function repository(): string {
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'hopgate-at-once-')));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  fs.mkdirSync(join(root, 'src'));
  fs.writeFileSync(join(root, 'src/a'), 'a');
  fs.writeFileSync(join(root, '.env'), 'SECRET');
  return root;
}

const options = { seconds: 300, outputBytes: 4096, signal: new AbortController().signal };

it(`${AT_ONCE} parallel sandboxes see only their own processes and no masked content, and leave nothing behind`, async () => {
  const sandbox = await detectSandbox();
  const root = repository();
  const before = treeHash(root);
  const layout = makeReadOnlyLayout({ root, masks: ['.env'] });
  const command = 'cat .env; echo x > src/a; echo $1 > /tmp/mine; sleep 0.2; cat /tmp/mine; ls -d /proc/[0-9]* | wc -l';
  const results = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, at) =>
      sandbox.run(layout, ['bash', '-c', command, 'bash', `mark-${process.pid}-${at}`], options),
    ),
  );
  for (const [at, { stdout }] of results.entries()) {
    const [mine, processes] = stdout.trim().split('\n');
    expect(mine).toBe(`mark-${process.pid}-${at}`);
    expect(Number(processes)).toBeLessThan(8);
  }
  expect(treeHash(root)).toBe(before);
  expect(processesWith(`mark-${process.pid}-`)).toEqual([]);
});

it(`${AT_ONCE / 4} parallel overlays keep their changes apart`, async () => {
  const sandbox = await detectSandbox();
  const root = repository();
  const layout = makeEditLayout({ root, masks: [] });
  const seen = await Promise.all(
    Array.from({ length: AT_ONCE / 4 }, async (_, at) => {
      let written = '';
      await sandbox.run(layout, ['bash', '-c', `echo ${at} > src/b; sleep 0.2`], {
        ...options,
        inspect: async ({ upper }) => {
          written = fs.readFileSync(join(upper, 'src/b'), 'utf8').trim();
        },
      });
      return written;
    }),
  );
  expect(seen).toEqual(seen.map((_, at) => `${at}`));
  expect(fs.readdirSync(join(root, 'src'))).toEqual(['a']);
});

it.runIf(isDeep)('parallel edits leave every file complete', async () => {
  const shell = shellBackend(await detectSandbox());
  const root = repository();
  const many = Array.from({ length: depth(4, 24) }, (_, at) => at);
  const reports = await Promise.all(
    many.map((at) => shell.run(toolCall(root, 'bash', { command: `seq ${at} ${at + 999} > src/f${at}` }))),
  );
  for (const { outcome } of reports) expect(outcome).toMatchObject({ status: 'ok', result: { exit: 0, dropped: [] } });
  for (const at of many)
    expect(fs.readFileSync(join(root, `src/f${at}`), 'utf8').split('\n').length, `f${at}`).toBe(1001);
  expect(fs.readdirSync(root).sort()).toEqual(['.env', 'src']);
});
