import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Codex } from '@openai/codex-sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { codexThread, mcpOverrides, withoutShell } from '../../src/adapters/codex/index.ts';
import { agentSession } from '../../src/adapters/core/local-agent-session.ts';
import { McpHost, serveOverHttp } from '../../src/adapters/mcp/index.ts';
import { openSession } from '../../src/open-session.ts';
import { blocksOf } from '../docs/blocks.ts';
import { machine } from '../docs/machine.ts';
import { CODEX_BIN, type CodexWorld, codexWorld, writeTree } from './codex-world.ts';

let world: CodexWorld | null = null;
afterEach(async () => world?.close());

const call = (name: string, input: object) => ({ calls: [{ namespace: 'mcp__hopgate', name, input }] });
const patch = (path: string) => ({
  calls: [{ name: 'apply_patch', patch: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` }],
});

describe.skipIf(CODEX_BIN === undefined)('the Codex SDK over the real program (set CODEX_BIN to run these)', () => {
  test('runs a thread in a session of this process, and its sandbox follows the hops', async () => {
    world = await codexWorld({
      modelName: 'gpt-5.5',
      scripts: {
        main: [
          call('read', { path: 'src/a.js' }),
          patch('src/early.js'),
          call('hop', { to: 'edit', exit: 'ready-to-edit', reason: 'found it' }),
          { text: 'I am in edit' },
          patch('src/b.js'),
          patch('package.json'),
          call('write', { path: 'src/c.js', content: 'c\n' }),
          { text: 'done' },
        ],
      },
    });
    const root = join(world.folder, 'repo');
    writeTree(root, { 'src/a.js': 'one\n' });
    const session = await openSession({
      root,
      agent: 'codex',
      store: 'memory',
      specs: 'default',
      approver: () => true,
    });
    await session.setMode({ to: 'diagnose' });
    await session.start('explore');
    const host = new McpHost({ session: agentSession(session), version: '0.0.0' });
    const served = await serveOverHttp(host);
    const env = { ...world.env, HOPGATE_TOKEN: served.token ?? '' };
    const tools = [...mcpOverrides({ url: served.url, tokenVariable: 'HOPGATE_TOKEN' }), ...withoutShell()];
    const thread = codexThread(
      session,
      (configOverrides) =>
        new Codex({ codexPathOverride: CODEX_BIN ?? '', env, configOverrides: [...configOverrides, ...tools] }),
      { options: { skipGitRepoCheck: true } },
    );
    const first = await thread.run('find it');
    expect(first.finalResponse).toBe('I am in edit');
    await session.setMode({ to: 'execute', reason: 'go' });
    await thread.run('fix it');
    const texts = world.model.requests.map(({ results }) => results.map(({ text }) => text).join('\n'));
    expect(world.model.requests[0]?.tools).not.toContain('exec_command');
    expect(texts[1]).toContain('one');
    expect(texts[2]).toContain('read-only');
    expect(texts[5]).toContain('Success');
    expect(texts[6]).toContain('rejected');
    expect(existsSync(join(root, 'src/early.js'))).toBe(false);
    expect(existsSync(join(root, 'package.json'))).toBe(false);
    expect(readFileSync(join(root, 'src/c.js'), 'utf8')).toBe('c\n');
    expect(session.state).toMatchObject({ peripheral: 'edit', steps: 2 });
    await served.close();
    await host.close();
  });

  test('runs the recipe’s program with the output on its page', async () => {
    const blocks = blocksOf('docs/recipes/codex-sdk.md');
    const [block, shown] = [blocks.find(({ lang }) => lang === 'ts'), blocks.find(({ lang }) => lang === 'text')];
    world = await codexWorld({
      modelName: 'gpt-5.5',
      scripts: {
        main: [
          call('grep', { pattern: 'TODO' }),
          call('hop', { to: 'edit', exit: 'found-target', reason: 'it is there' }),
          call('mode', { to: 'execute', reason: 'a small change was asked for' }),
          { text: 'It is in src/cart.js.' },
          {
            calls: [
              {
                name: 'apply_patch',
                patch:
                  '*** Begin Patch\n*** Update File: src/cart.js\n@@\n-// TODO: discounts\n+// discounts\n*** End Patch',
              },
            ],
          },
          { text: 'The TODO is settled.' },
        ],
      },
    });
    const on = machine();
    on.write('codex-agent.ts', block?.text ?? '');
    const { HOME: _, PATH: __, ...set } = world.env;
    const exports = Object.entries({ ...set, CODEX_BIN }).map(([name, value]) => `export ${name}='${value}'`);
    const hooks = join(on.root, '../tools/hooks.mjs');
    const ran = await on.bash(`${exports.join('\n')}\nnode --import 'file://${hooks}' codex-agent.ts`);
    expect(ran.all).toBe(shown?.text);
    expect(readFileSync(join(on.root, 'src/cart.js'), 'utf8')).not.toContain('TODO');
  });
});
