import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { codexHooks } from '../../../src/adapters/codex/codex-hook-config.ts';
import { diagnoseCodex } from '../../../src/cli/doctor/diagnose-codex.ts';
import type { Io } from '../../../src/cli/io.ts';
import { isDeep } from '../../depth.ts';
import { temporaryTree } from '../../session/sessions.ts';

const [mine] = codexHooks('hook').PreToolUse[0]?.hooks ?? [];
const hook = (more: object = {}) => ({
  key: 'k',
  eventName: 'preToolUse',
  command: mine?.command,
  source: 'user',
  enabled: true,
  currentHash: 'h',
  trustStatus: 'trusted',
  ...more,
});

/** The doctor's findings if Codex knows these hooks; null if Codex fails. */
async function find(hooks: readonly object[] | null) {
  const answer = JSON.stringify({ data: [{ hooks, warnings: [], errors: [] }] });
  const root = temporaryTree({
    'package.json': '{"type":"commonjs"}',
    codex: `#!${process.execPath}
${hooks === null ? "console.error('no such command'); process.exit(1);" : ''}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line);
  if (id === 1) console.log(JSON.stringify({ id, result: { userAgent: 'x/0.169.0', codexHome: '/' } }));
  if (id === 2) console.log(JSON.stringify({ id, result: ${answer} }));
});
`,
  });
  chmodSync(join(root, 'codex'), 0o755);
  const env = { HOME: root, XDG_STATE_HOME: `${root}-state`, PATH: root };
  const streams = { stdout: new PassThrough(), stderr: new PassThrough(), stdin: new PassThrough() };
  const io: Io = { ...streams, env, isTty: false, cwd: root, color: false, json: false, exitCode: 0 };
  return diagnoseCodex(root, io);
}

test('doctor says nothing about a Codex that is not installed', async () => {
  const io = { env: { PATH: '/nowhere' } } as unknown as Io;
  expect(await diagnoseCodex('/', io)).toEqual([]);
});

test('doctor names the gaps of Codex’s hooks, and says that hopgate’s hooks are not installed', async () => {
  const [codex, hooks] = await find([hook({ command: 'of somebody else' })]);
  expect(codex).toMatchObject({ status: 'ok', found: expect.stringContaining('0.169.0') });
  expect(codex?.details?.join('\n')).toMatch(/Codex allows a call if its hook fails[\s\S]*write_stdin/);
  expect(hooks).toMatchObject({ status: 'ok', found: expect.stringContaining('not installed') });
});

test.runIf(isDeep)('doctor names installed hooks that Codex ignores, with a remedy', async () => {
  for (const [more, why] of [
    [{ trustStatus: 'untrusted' }, 'untrusted'],
    [{ trustStatus: 'modified' }, 'modified'],
    [{ enabled: false }, 'switched off'],
  ] as const) {
    const [, hooks] = await find([hook(), hook(more)]);
    expect(hooks).toMatchObject({
      status: 'missing',
      found: expect.stringContaining(why),
      fix: expect.stringContaining('/hooks'),
    });
  }
  const [, few] = await find([hook()]);
  expect(few).toMatchObject({ status: 'missing', found: '1 of 7' });
  const [, all] = await find(Array.from({ length: 7 }, () => hook()));
  expect(all).toMatchObject({ status: 'ok', found: 'installed and trusted' });
});

test('doctor reports a Codex that does not answer as missing, with the reason', async () => {
  const [codex, ...rest] = await find(null);
  expect(codex).toMatchObject({ status: 'missing', found: expect.stringContaining('no such command') });
  expect(rest).toEqual([]);
});
