import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PAR_PARTICIPANT } from '../agency/agency-nodes.ts';
import { CLAUDE_BIN, ClaudeWorld } from './claude-world.ts';
import { CODEX_BIN, codexWorld } from './codex-world.ts';
import { scriptedModel } from './messages-server.ts';

it.skipIf(!CLAUDE_BIN || !CODEX_BIN)('Claude Code and Codex write into one review', async () => {
  const claude = new ClaudeWorld();
  const model = await scriptedModel({ main: [{ text: 'a view of Claude Code' }] }, { hasTools: false });
  const codex = await codexWorld({ scripts: { main: [{ text: 'a view of Codex' }] } });
  const agency = join(claude.folder, 'agency');
  mkdirSync(agency);
  writeFileSync(join(agency, 'peripherals.edn'), PAR_PARTICIPANT);
  writeFileSync(
    join(agency, 'agents.yaml'),
    `fuclaude: { location: local, program: ${CLAUDE_BIN} }\nfucodex: { location: local, program: ${CODEX_BIN} }\n`,
  );
  const env = { ...codex.env, ...claude.env, ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.port}` };
  const words = ['--agents', 'fuclaude,fucodex', '--title', 'Debrief', '--par', 'd1', '--root', claude.root, '--json'];
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['src/cli/main.ts', 'par-bell', '--agency', agency, ...words],
      { env },
    );
    const contributions = { fuclaude: 'a view of Claude Code', fucodex: 'a view of Codex' };
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'all', contributions });
    for (const { requests } of [model, codex.model]) expect(JSON.stringify(requests)).toContain('PAR: Debrief');
  } finally {
    model.close();
    await codex.close();
  }
});
