import { expect, it, onTestFinished } from 'vitest';
import { SERVER } from '../server-name.ts';
import { CLAUDE_BIN, ClaudeWorld, own } from './claude-world.ts';
import { CODEX_BIN, codexWorld, hopgate } from './codex-world.ts';
import type { Turn } from './messages-server.ts';
import { player, receiving } from './player.ts';
import type { ScriptedTurn } from './responses-server.ts';

it.skipIf(!CLAUDE_BIN || !CODEX_BIN)('Claude Code and Codex ring and whistle each other', async () => {
  const claude = new ClaudeWorld();
  onTestFinished(() => claude.close());
  const [claudeIsThere, codexIsThere] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const received: string[] = [];
  const { answering, expecting } = receiving(received);

  const inClaude = (name: string, input: object = {}): Turn => ({ calls: [{ name: own(name), input }] });
  const inCodex = (name: string, input: object = {}): ScriptedTurn => ({
    calls: [{ namespace: `mcp__${SERVER}`, name, input }],
  });
  const codex = await codexWorld({
    modelName: 'gpt-5.5',
    scripts: {
      main: player(inCodex('status'), [
        async () => {
          codexIsThere.resolve();
          await claudeIsThere.promise;
          return inCodex('bell', { to: 'agent:claude-code', text: 'hello from codex' });
        },
        expecting('codex', 'hello from claude', inCodex('status')),
        answering('codex', 'Which port?', '8080', 'agent:claude-code', (input) => inCodex('bell', input)),
        () => inCodex('whistle', { to: 'agent:claude-code', text: 'Ready?', seconds: 60 }),
        expecting('codex', 'quite ready', { text: 'done' }),
      ]),
    },
  });
  onTestFinished(() => codex.close());
  const shared = { XDG_STATE_HOME: claude.env['XDG_STATE_HOME']!, XDG_RUNTIME_DIR: claude.env['XDG_RUNTIME_DIR']! };
  const codexRuns = hopgate(codex, claude.root, ['codex', 'exec', '--json', 'begin'], shared);
  await codexIsThere.promise;
  const claudeRan = await claude.run(
    player(inClaude('status'), [
      () => {
        claudeIsThere.resolve();
        return inClaude('bell', { to: 'agent:codex', text: 'hello from claude' });
      },
      expecting(
        'claude',
        'hello from codex',
        inClaude('whistle', { to: 'agent:codex', text: 'Which port?', seconds: 60 }),
      ),
      expecting('claude', '8080', inClaude('status')),
      answering('claude', 'Ready?', 'quite ready', 'agent:codex', (input) => inClaude('bell', input)),
    ]),
  );
  expect(claudeRan).toMatchObject({ code: 0 });
  expect(await codexRuns).toMatchObject({ code: 0 });
  expect([...received].sort()).toEqual([
    'claude: 8080',
    'claude: Ready?',
    'claude: hello from codex',
    'codex: Which port?',
    'codex: hello from claude',
    'codex: quite ready',
  ]);
  const sessions = await claude.sessions();
  expect(sessions).toHaveLength(2);
  for (const session of sessions) expect((await claude.hopgate('verify', session)).code).toBe(0);
});
