import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentSession } from '../../src/adapters/core/local-agent-session.ts';
import { recordTranscript } from '../../src/adapters/core/transcript/record-transcript.ts';
import { transcriptPath, transcriptTo } from '../../src/adapters/core/transcript/transcript-file.ts';
import { openSession } from '../../src/open-session.ts';
import { ensureStateDir, evidenceFile } from '../../src/project/state-dir.ts';
import { type Machine, machine } from './run.ts';

async function open({ root, env }: Machine) {
  const stateDir = ensureStateDir(root, env);
  const session = await openSession({ root, agent: 'builder', store: evidenceFile(root, env), trustConfig: true });
  return { session, file: transcriptPath(stateDir, session.id) };
}

/** An agent that reads where it is, speaks, calls, and hops out. */
async function inhabited(on: Machine) {
  const { session, file } = await open(on);
  const agent = recordTranscript(agentSession(session), transcriptTo(file));
  await agent.prompt();
  await agent.call({ name: 'mode', input: { to: 'diagnose', reason: 'I have to look' } });
  await agent.call({ name: 'hop', input: { to: 'explore', reason: 'I look around in explore' } });
  agent.said('I am in explore; I can read here.');
  await agent.call({ name: 'read', input: { path: 'a.txt' } });
  await agent.call({ name: 'hop', input: { to: 'reflect', exit: 'hop-reflect', reason: 'I have seen it' } });
  await agent.close();
  return { id: session.id, file };
}

/** A session with the same calls by a program from outside. */
async function driven(on: Machine) {
  const { session, file } = await open(on);
  await session.setMode({ to: 'diagnose' });
  await session.start('explore');
  await session.step({ tool: 'read', args: { path: 'a.txt' } });
  await session.stop('done');
  await session.detach();
  return { id: session.id, file };
}

const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

describe('hopgate verify --inhabited', () => {
  it('passes a session in which an agent worked', async () => {
    const on = machine({ 'a.txt': 'a' });
    const { id, file } = await inhabited(on);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { code, out } = await on.run('verify', id, '--inhabited');
    expect(out).toMatch(/P-1 +world replacement +holds\n/);
    expect(out).toMatch(/P-5 +evidence of inhabitation +holds \(0\.\d+\)\n/);
    expect(out).not.toContain('fails');
    expect(code).toBe(0);
    const verdict = JSON.parse((await on.run('verify', id, '--inhabited', '--json')).out);
    expect(verdict.inhabited.map(({ id, verdict }: { id: string; verdict: string }) => `${id} ${verdict}`)).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => `P-${n} holds`),
    );
  });

  it('reports a session during a visit as clean so far, and does not fail for a low score', async () => {
    const on = machine({ 'a.txt': 'a' });
    const { session, file } = await open(on);
    const agent = recordTranscript(agentSession(session), transcriptTo(file));
    await agent.prompt();
    await agent.call({ name: 'mode', input: { to: 'diagnose', reason: '…' } });
    await agent.call({ name: 'hop', input: { to: 'explore', reason: '…' } });
    await agent.call({ name: 'read', input: { path: 'a.txt' } });
    await agent.close();
    const { code, out } = await on.run('verify', session.id, '--inhabited');
    expect(out).toMatch(/^clean so far {2}\S+ {2}\d+ entries, 1 step, 0 denials, 1 visit$/m);
    expect(out).toMatch(/P-4 .*holds/);
    expect(out).toMatch(/P-5 .*fails \(0/);
    expect(code).toBe(0);
  });

  it('fails a session that a script drove within the spec', async () => {
    const on = machine({ 'a.txt': 'a' });
    const { id, file } = await driven(on);
    expect(existsSync(file)).toBe(false);
    expect(await on.run('verify', id)).toMatchObject({ code: 0, out: expect.stringContaining('clean') });
    const { code, out } = await on.run('verify', id, '--inhabited');
    expect(code).toBe(1);
    for (const demand of ['P-1', 'P-2', 'P-3', 'P-4', 'P-5'])
      expect(out).toMatch(new RegExp(`^${demand} .*fails`, 'm'));
    expect(out).toMatch(/P-6 .*not applicable +there is no transcript/);
  });

  it('reads another transcript if one is named', async () => {
    const on = machine({ 'a.txt': 'a' });
    const { id, file } = await inhabited(on);
    const other = join(on.root, 'other.jsonl');
    writeFileSync(
      other,
      lines(file)
        .filter((line) => !line.includes('"tool":"read"'))
        .join('\n'),
    );
    const { code, out } = await on.run('verify', id, '--inhabited', '--transcript', other);
    expect(code).toBe(1);
    expect(out).toContain('step read is in the evidence, but the agent made no such call');
    expect(out).toMatch(/and \d+ more|the number of the item is not \d+/);
  });

  it.each([
    [['verify', 'ID', '--transcript', 'x.jsonl'], '--transcript needs --inhabited'],
    [['verify', '--inhabited', '--transcript', 'x.jsonl'], '--transcript needs --inhabited and one session'],
    [['verify', 'ID', '--inhabited', '--transcript', 'x.jsonl'], 'cannot read the transcript'],
  ])('explains wrong options: %j', async (argv, says) => {
    const on = machine({ 'a.txt': 'a' });
    const { id } = await driven(on);
    const ran = await on.run(...argv.map((word) => (word === 'ID' ? id : word)));
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(says) });
  });

  it('escapes control characters of a transcript', async () => {
    const on = machine({ 'a.txt': 'a' });
    const { id, file } = await inhabited(on);
    const item = { n: 99, at: '2026-01-01T00:00:00Z', source: 'agent', channel: 'call', kind: 'call' };
    const call = { ...item, callId: 'x', tool: '\u001b[2Jread\u202e', input: {}, outside: true };
    writeFileSync(file, `${lines(file).join('\n')}\n${JSON.stringify(call)}\n`);
    const { out } = await on.run('verify', id, '--inhabited');
    expect(out).toContain('\\u{1b}[2Jread\\u{202e} did not go through the session');
    expect(out).not.toMatch(/[\u001b\u202e]/);
  });
});
