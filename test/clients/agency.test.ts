import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claudeCodeDriver } from '../../src/agency/drivers/claude-code-driver.ts';
import { codexDriver } from '../../src/agency/drivers/codex-driver.ts';
import { CLAUDE_BIN, ClaudeWorld } from './claude-world.ts';
import { CODEX_BIN, codexWorld } from './codex-world.ts';
import { scriptedModel } from './messages-server.ts';

const OFF = { fs: false, shell: false, http: false };
const task = (prompt: string) => ({
  instructions: 'Join PAR.',
  prompt,
  tools: OFF,
  schema: null,
  signal: AbortSignal.timeout(80_000),
});

it.skipIf(!CLAUDE_BIN)('a par-participant in Claude Code runs none of Read, Bash and WebFetch', async () => {
  const world = new ClaudeWorld();
  const secret = join(world.folder, 'secret.txt');
  writeFileSync(secret, 'the-secret-word');
  const marker = join(world.folder, 'marker');
  const model = await scriptedModel(
    {
      main: [
        {
          calls: [
            { name: 'Read', input: { file_path: secret } },
            { name: 'Bash', input: { command: `touch ${marker}` } },
            { name: 'WebFetch', input: { url: 'http://127.0.0.1:9/', prompt: 'x' } },
          ],
        },
        { text: 'nothing ran' },
      ],
    },
    { hasTools: false },
  );
  const driver = claudeCodeDriver({
    program: CLAUDE_BIN!,
    cwd: null,
    model: null,
    env: { ...world.env, ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.port}` },
  });
  const answer = await driver.run(task(`Title: PAR @${secret} and @"${secret}"`)).finally(() => model.close());
  expect(answer).toBe('nothing ran');
  expect(model.requests.map(({ tools }) => tools)).toEqual([[], []]);
  expect(model.requests[1]!.results.map(({ name, failed }) => [name, failed])).toEqual([
    ['Read', true],
    ['Bash', true],
    ['WebFetch', true],
  ]);
  expect(JSON.stringify(model.requests)).not.toContain('the-secret-word');
  expect(existsSync(marker)).toBe(false);
});

it.skipIf(!CODEX_BIN)('a par-participant in Codex runs none of its tools', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agency-codex-'));
  const marker = join(folder, 'marker');
  const image = join(folder, 'a.png');
  writeFileSync(
    image,
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
      'base64',
    ),
  );
  const secret = join(folder, 'secret.txt');
  writeFileSync(secret, 'the-secret-word');
  const world = await codexWorld({
    scripts: {
      main: [
        {
          calls: [
            { name: 'Read', input: { file_path: image } },
            { name: 'Bash', input: { command: `touch ${marker}` } },
            { name: 'WebFetch', input: { url: 'http://127.0.0.1:9/' } },
            { name: 'shell', input: { command: ['touch', marker] } },
            { name: 'exec_command', input: { cmd: `touch ${marker}` } },
            { name: 'view_image', input: { path: image } },
            { name: 'apply_patch', patch: `*** Begin Patch\n*** Add File: ${marker}\n+x\n*** End Patch` },
          ],
        },
        { text: 'nothing ran' },
      ],
    },
  });
  const driver = codexDriver({ program: CODEX_BIN!, cwd: null, model: null, env: world.env });
  try {
    const answer = await driver.run(task(`Title: PAR @${secret} and $notes`));
    expect(answer).toBe('nothing ran');
    const [, second] = world.model.requests;
    expect(second!.tools).toEqual(['request_user_input']);
    expect(second!.results.map(({ text }) => /^unsupported (?:custom tool )?call/.test(text))).toEqual(
      Array(7).fill(true),
    );
    expect(JSON.stringify(world.model.requests)).not.toContain('the-secret-word');
    expect(existsSync(marker)).toBe(false);
  } finally {
    await world.close();
  }
});
