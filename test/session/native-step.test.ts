import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import { type Body, toBody } from '../../src/evidence/bodies.ts';
import type { NativeCallOutcome, NativeTicket } from '../../src/session/native/native-steps.ts';
import type { Session } from '../../src/session/session.ts';
import { sha256Hex } from '../../src/tools/content-effect.ts';
import { workspaceBackend } from '../../src/tools/workspace/workspace-backend.ts';
import { must, type Stage, stage } from './sessions.ts';

const DONE: NativeCallOutcome = { status: 'ok', result: { path: 'src/a.ts' } };
const readA = { tool: 'read', args: { path: 'src/a.ts' } };
const editA = { tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } };
const writeB = { tool: 'write', args: { path: 'src/b.ts', content: 'b\n' } };

/** A session in `edit`, with the real file tools. */
async function editing(options: Parameters<typeof stage>[0] = {}): Promise<Stage> {
  const made = await stage({ backends: [workspaceBackend()], ...options });
  const { session } = made;
  await session.setMode({ to: 'diagnose' });
  await session.setMode({ to: 'execute', exitCriteria: 'done' });
  await session.start('explore');
  const hopped = await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'go' });
  if (!hopped.ok) throw new Error(hopped.denial.message);
  return made;
}

async function admitted(session: Session, call: Parameters<Session['admit']>[0]): Promise<NativeTicket> {
  const result = await session.admit(call);
  if (!result.ok) throw new Error(`${result.denial.code}: ${result.denial.message}`);
  return result.ticket;
}

const change = ({ root }: Stage, text = 'b\n'): void => writeFileSync(join(root, 'src/a.ts'), text);

async function bodies(session: Session): Promise<Body[]> {
  return (await session.evidence()).flatMap((entry) => toBody(entry.body) ?? []);
}
const events = async (session: Session, last: number) => (await bodies(session)).slice(-last).map(({ event }) => event);

/** The result of the audit after the session is released. */
async function verdictOf({ store }: Stage, session: Session) {
  await session.detach();
  const { specs, config } = session;
  const { chain, audit } = await verifySession(session.id, { specs, config }, store.entries(session.id));
  expect(chain).toEqual([]);
  return audit;
}

describe('an acting call that another program runs', () => {
  it('records its intent before it runs and its outcome with the observed effects after it', async () => {
    const at = await editing();
    const ticket = await admitted(at.session, editA);
    expect(await events(at.session, 1)).toEqual(['intent']);
    change(at);
    const done = await at.session.conclude(ticket, DONE);
    expect(done).toMatchObject({ ok: true, recorded: true });
    expect((await bodies(at.session)).at(-1)).toMatchObject({
      event: 'outcome',
      outcome: { status: 'ok' },
      effects: [{ path: 'src/a.ts', op: 'modify', before: sha256Hex('a\n'), after: sha256Hex('b\n') }],
    });
    expect(at.session.state.backpack['changed-files']).toEqual(['src/a.ts']);
    await at.session.stop('done', { fruit: { 'commit-message': 'x' } });
    expect(await verdictOf(at, at.session)).toMatchObject({ ok: true, violations: [], gaps: [] });
  });

  it('is refused like any other, and the refusal is recorded', async () => {
    const { session } = await editing();
    const refused = await session.admit({ tool: 'edit', args: { path: 'README.md', old: 'a', new: 'b' } });
    expect(refused).toMatchObject({ ok: false, denial: { code: 'out-of-scope' } });
    expect(await events(session, 1)).toEqual(['denial']);
    expect((await session.admit({ tool: 'nonsense' })).ok).toBe(false);
  });

  it('leaves no intent if the real path is refused', async () => {
    const at = await editing();
    const { linkSync } = await import('node:fs');
    linkSync(join(at.root, 'src/a.ts'), join(at.root, 'src/twin.ts'));
    expect(await at.session.admit(editA)).toMatchObject({ ok: false, denial: { code: 'out-of-scope' } });
    expect(await events(at.session, 2)).toEqual(['start', 'denial']);
  });

  it('is refused if nothing can observe it', async () => {
    const { session } = await editing({ backends: [{ ...workspaceBackend(), native: undefined } as never] });
    await expect(session.admit(editA)).rejects.toThrow(/can watch "edit"/);
  });

  it('changes nothing if the other program reports a failure', async () => {
    const at = await editing();
    const ticket = await admitted(at.session, editA);
    const failed: NativeCallOutcome = {
      status: 'failed',
      code: 'client-error',
      message: 'String to replace not found',
    };
    expect(await at.session.conclude(ticket, failed)).toMatchObject({ recorded: true });
    expect((await bodies(at.session)).at(-1)).toMatchObject({ outcome: { status: 'failed' }, effects: [] });
  });

  it('is interrupted by the next acting call, and a later result is refused', async () => {
    const at = await editing();
    const first = await admitted(at.session, editA);
    const second = await admitted(at.session, writeB);
    change(at);
    writeFileSync(join(at.root, 'src/b.ts'), 'b\n');
    expect(await at.session.conclude(first, DONE)).toMatchObject({ ok: true, recorded: false, evidence: [] });
    expect(await at.session.conclude(second, DONE)).toMatchObject({ recorded: true });
    expect(await events(at.session, 4)).toEqual(['intent', 'interrupted', 'intent', 'outcome']);
    expect((await verdictOf(at, at.session)).violations).toEqual([]);
  });

  it('is concluded only once', async () => {
    const at = await editing();
    const ticket = await admitted(at.session, editA);
    change(at);
    expect(await at.session.conclude(ticket, DONE)).toMatchObject({ recorded: true });
    expect(await at.session.conclude(ticket, DONE)).toMatchObject({ recorded: false });
  });

  it('ends with its visit if a hop comes between', async () => {
    const at = await editing();
    const ticket = await admitted(at.session, editA);
    const hop = await at.session.hop({
      to: 'test',
      exit: 'hop-test',
      reason: 'go',
      fruit: { 'commit-message': 'm' },
    });
    if (!hop.ok) throw new Error(hop.denial.message);
    change(at);
    expect(await at.session.conclude(ticket, DONE)).toMatchObject({ ok: true, recorded: false });
    expect(at.session.state.peripheral).toBe('test');
  });

  it('is distinguished from the same call of a later visit to the same peripheral', async () => {
    const at = await editing();
    const look = await admitted(at.session, readA);
    await at.session.hop({ to: 'test', exit: 'hop-test', reason: 'go', fruit: { 'commit-message': 'm' } });
    await at.session.hop({ to: 'edit', exit: 'hop-edit', reason: 'back' });
    expect(at.session.state.peripheral).toBe('edit');
    expect(await at.session.conclude(look, DONE)).toMatchObject({ recorded: false });
  });

  it('can be concluded by another process', async () => {
    const at = await editing();
    const ticket = JSON.parse(JSON.stringify(await admitted(at.session, editA))) as NativeTicket;
    await at.session.detach();
    change(at);
    const next = await at.reopen();
    expect(await next.attach()).toEqual({ ok: true });
    expect(await next.conclude(ticket, DONE)).toMatchObject({ recorded: true });
    expect(await events(next, 2)).toEqual(['intent', 'outcome']);
  });

  it('has an unknown outcome if its process was killed', async () => {
    const at = await editing();
    const ticket = await admitted(at.session, editA);
    change(at);
    at.clock.advance(1);
    const next = await at.reopen();
    expect(await next.step(readA)).toMatchObject({ ok: true });
    expect(await next.conclude(ticket, DONE)).toMatchObject({ ok: true, recorded: false });
    expect(await events(next, 3)).toEqual(['intent', 'interrupted', 'step']);
    const again = await admitted(next, { tool: 'edit', args: { path: 'src/a.ts', old: 'b', new: 'c' } });
    change(at, 'c\n');
    expect(await next.conclude(again, DONE)).toMatchObject({ recorded: true });
    const { violations, gaps } = await verdictOf(at, next);
    expect(violations).toEqual([]);
    expect(gaps).not.toEqual([]);
  });

  it('is concluded with its effects even if it exceeds the time of its visit', async () => {
    const at = await editing();
    const limit = at.session.specs.peripherals['edit']?.limits.minutes;
    const ticket = await admitted(at.session, editA);
    change(at);
    at.clock.advance((limit ?? 59) + 0.5);
    const done = await at.session.conclude(ticket, DONE);
    expect(done).toMatchObject({ recorded: true });
    expect((await bodies(at.session)).at(-1)).toMatchObject({ effects: [{ op: 'modify' }] });
  });

  it('may be reported after the session was closed, without effect', async () => {
    const at = await editing();
    const ticket = await admitted(at.session, editA);
    await at.session.stop('done', { fruit: { 'commit-message': 'x' } });
    const look = { ...ticket, intent: null, tool: 'read' };
    await at.session.close();
    const next = await at.reopen();
    expect(await next.conclude(ticket, DONE)).toMatchObject({ recorded: false });
    expect(await next.conclude(look, DONE)).toMatchObject({ recorded: false });
  });

  it('keeps large arguments and results out of the entries', async () => {
    const at = await editing();
    const content = 'x'.repeat(100_000);
    const ticket = await admitted(at.session, { tool: 'write', args: { path: 'src/big.ts', content } });
    writeFileSync(join(at.root, 'src/big.ts'), content);
    await at.session.conclude(ticket, { status: 'ok', result: { path: 'src/big.ts', echo: content } });
    for (const entry of (await at.session.evidence()).slice(-2))
      expect(JSON.stringify(entry).length).toBeLessThan(5000);
    expect(readFileSync(join(at.root, 'src/big.ts'), 'utf8')).toBe(content);
  });
});

describe('read-only calls during a pending edit', () => {
  it('do not end the pending edit, and are recorded after its outcome', async () => {
    const at = await editing();
    const before = await admitted(at.session, readA);
    const edit = await admitted(at.session, editA);
    const between = await admitted(at.session, readA);
    expect(await at.session.conclude(before, DONE)).toMatchObject({ recorded: true, evidence: [] });
    change(at);
    expect(await at.session.conclude(edit, DONE)).toMatchObject({ recorded: true });
    expect(await at.session.conclude(between, DONE)).toMatchObject({ recorded: true });
    expect(await events(at.session, 4)).toEqual(['intent', 'outcome', 'step', 'step']);
    expect((await verdictOf(at, at.session)).violations).toEqual([]);
  });

  it('are recorded even if the session is released before the outcome', async () => {
    const at = await editing();
    const look = await admitted(at.session, readA);
    const edit = await admitted(at.session, editA);
    expect(await at.session.conclude(look, DONE)).toMatchObject({ recorded: true });
    await at.session.detach();
    const next = await at.reopen();
    expect(await events(next, 3)).toEqual(['intent', 'interrupted', 'step']);
    expect(await next.conclude(edit, DONE)).toMatchObject({ recorded: false });
  });

  it('end the pending edit if they are refused, so that the refusal is in order', async () => {
    const at = await editing();
    const edit = await admitted(at.session, editA);
    expect(await at.session.admit({ tool: 'read', args: { path: '/etc/passwd' } })).toMatchObject({ ok: false });
    expect(await events(at.session, 3)).toEqual(['intent', 'interrupted', 'denial']);
    expect(await at.session.conclude(edit, DONE)).toMatchObject({ recorded: false });
    expect((await verdictOf(at, at.session)).violations).toEqual([]);
  });

  it('are each recorded if many run in parallel', async () => {
    const { session } = await editing();
    const tickets = await Promise.all(Array.from({ length: 8 }, () => admitted(session, readA)));
    await Promise.all(tickets.map((ticket) => session.conclude(ticket, DONE)));
    expect(await events(session, 8)).toEqual(Array.from({ length: 8 }, () => 'step'));
  });

  it('are not recorded after their visit has reached a limit', async () => {
    const at = await editing();
    const look = await admitted(at.session, readA);
    await at.session.setMode({ to: 'discuss', by: 'operator', reset: true });
    expect(await at.session.conclude(look, DONE)).toMatchObject({ ok: true, recorded: false });
  });
});

describe('attaching to a session', () => {
  it('takes the lease and does not end a pending step', async () => {
    const at = await editing();
    await admitted(at.session, editA);
    await at.session.detach();
    const [one, two] = [await at.reopen(), await at.reopen()];
    expect(await one.attach()).toEqual({ ok: true });
    expect(await two.attach()).toMatchObject({ ok: false, denial: { code: 'session-busy' } });
    expect(await events(one, 1)).toEqual(['intent']);
  });
});

it('a tool that no backend serves is refused, and the refusal is recorded', async () => {
  const { session } = await stage({ backends: [] });
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.start('explore'));
  expect(await session.admit({ tool: 'read', args: { path: 'src/a.ts' } })).toMatchObject({
    ok: false,
    denial: { code: 'unknown-tool' },
    evidence: [{ body: { event: 'denial' } }],
  });
});
