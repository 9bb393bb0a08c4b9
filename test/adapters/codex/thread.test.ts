import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Codex } from '@openai/codex-sdk';
import { describe, expect, test } from 'vitest';
import { codexThread } from '../../../src/adapters/codex/index.ts';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { isDeep } from '../../depth.ts';
import { must, stage, temporaryTree } from '../../session/sessions.ts';

/** A program that answers as `codex exec --json` does, and writes down how it was called. */
function fakeCodex() {
  const folder = temporaryTree({
    codex: `#!${process.execPath}
const fs = require('node:fs');
fs.appendFileSync(__dirname + '/calls', JSON.stringify(process.argv.slice(2)) + '\\n');
const say = (event) => console.log(JSON.stringify(event));
process.stdin.resume().on('end', () => {
  say({ type: 'thread.started', thread_id: 'thread-1' });
  say({ type: 'turn.started' });
  say({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'said' } });
  say({ type: 'turn.completed', usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } });
});
`,
    calls: '',
    'package.json': '{"type":"commonjs"}',
  });
  const path = join(folder, 'codex');
  chmodSync(path, 0o755);
  const calls = () =>
    readFileSync(join(folder, 'calls'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as string[]);
  return { path, calls };
}

const wordAfter = (args: readonly string[], option: string): string | undefined => args[args.indexOf(option) + 1];

describe('a thread of the SDK', () => {
  test('gives each turn the sandbox of the session’s current peripheral', async () => {
    const { path, calls } = fakeCodex();
    const { session, root } = await stage();
    await must(session.setMode({ to: 'diagnose' }));
    await must(session.start('explore'));
    const thread = codexThread(session, new Codex({ codexPathOverride: path }), {
      options: { skipGitRepoCheck: true },
    });
    expect(thread.id).toBeNull();
    const turn = await thread.run('look');
    expect(turn.finalResponse).toBe('said');
    expect(thread.id).toBe('thread-1');
    await must(session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'found' }));
    await must(session.setMode({ to: 'execute', reason: 'go' }));
    await thread.run('edit');
    await thread.run('edit more');
    await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'done' }));
    const { events } = await thread.runStreamed('test');
    for await (const _ of events);
    expect(
      calls().map((args) => [wordAfter(args, '--sandbox'), args.includes('resume') ? wordAfter(args, 'resume') : null]),
    ).toEqual([
      ['read-only', null],
      ['workspace-write', 'thread-1'],
      ['workspace-write', 'thread-1'],
      ['read-only', 'thread-1'],
    ]);
    for (const args of calls()) {
      expect(wordAfter(args, '--cd')).toBe(root);
      expect(args).toEqual(
        expect.arrayContaining(['--skip-git-repo-check', 'approval_policy="never"', 'web_search="disabled"']),
      );
    }
  });

  test('made from overrides can write only the folders of the scope', async () => {
    const { path, calls } = fakeCodex();
    const { session, root } = await stage({ config: { scopes: { edit: ['lib/'] } } });
    await must(session.setMode({ to: 'diagnose' }));
    await must(session.start('explore'));
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'r' }));
    await must(session.setMode({ to: 'execute', reason: 'go' }));
    const thread = codexThread(session, (configOverrides) => new Codex({ codexPathOverride: path, configOverrides }));
    await thread.run('edit');
    const [args = []] = calls();
    expect(args).not.toContain('--sandbox');
    expect(args.find((arg) => arg.startsWith('permissions.'))).toContain(
      `${JSON.stringify(root)} = {"." = "read", "lib" = "write", "**/.env" = "deny"`,
    );
  });

  test.runIf(isDeep)('runs turns that begin at the same time in the same thread', async () => {
    const { path, calls } = fakeCodex();
    const { session } = await stage();
    await must(session.start('explore'));
    const begin = () => codexThread(session, new Codex({ codexPathOverride: path }));
    const threadsOf = () => calls().map((args) => (args.includes('resume') ? wordAfter(args, 'resume') : null));
    const thread = begin();
    const turns = await Promise.all([thread.run('one'), thread.run('two'), thread.run('three')]);
    expect(turns.map(({ finalResponse }) => finalResponse)).toEqual(['said', 'said', 'said']);
    expect(threadsOf()).toEqual([null, 'thread-1', 'thread-1']);

    const streaming = begin();
    const [one, two] = await Promise.all([streaming.runStreamed('one'), streaming.runStreamed('two')]);
    const kinds: string[] = [];
    for await (const { type } of one.events) kinds.push(type);
    expect(kinds).toEqual(['thread.started', 'turn.started', 'item.completed', 'turn.completed']);
    await streaming.run('three');
    expect(threadsOf().slice(3)).toEqual([null, 'thread-1']);
    expect(two.events[Symbol.asyncIterator]).toBeTypeOf('function');
  });

  test('begins the next turn after a failed one', async () => {
    const { path, calls } = fakeCodex();
    const { session } = await stage();
    await must(session.start('explore'));
    const thread = codexThread(session, new Codex({ codexPathOverride: path }));
    const stopped = thread.run('one', { signal: AbortSignal.abort() });
    const next = thread.run('two');
    await expect(stopped).rejects.toThrow();
    expect((await next).finalResponse).toBe('said');
    expect(calls().length).toBeGreaterThanOrEqual(1);
  });

  test('is continued by its id for a session that another process holds', async () => {
    const { path, calls } = fakeCodex();
    const { session, root } = await stage();
    await must(session.start('explore'));
    const standing = { session: agentSession(session), specs: session.specs, config: session.config, root };
    const thread = codexThread(standing, new Codex({ codexPathOverride: path }), { id: 'thread-0' });
    await thread.run('look');
    expect(wordAfter(calls()[0] ?? [], 'resume')).toBe('thread-0');
  });
});
