import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentTool } from '../../../src/adapters/core/agent-session.ts';
import { SubAgentAudit } from '../../../src/audit/delegation/sub-agent-audit.ts';
import type { SessionVerification } from '../../../src/audit/verify/verify-session.ts';
import { verifySession } from '../../../src/audit/verify/verify-session.ts';
import { carryOutSessionRequest } from '../../../src/daemon/session-request.ts';
import { toBody } from '../../../src/evidence/bodies.ts';
import { ChainError } from '../../../src/evidence/chain.ts';
import type { StoredEntry } from '../../../src/evidence/entry.ts';
import { stateDir } from '../../../src/project/state-dir.ts';
import { trustCurrentConfig } from '../../../src/project/trust.ts';
import type { SessionPin } from '../../../src/session/pin.ts';
import { sqliteStore } from '../../../src/stores/sqlite.ts';
import { isDeep, sample } from '../../depth.ts';
import { World } from './claude-conversation.ts';

const specs = (delegates: string, more = '') => ({
  'hopgate.yaml': 'specs: specs\nscopes: { work: [src/, docs/] }\n',
  'specs/gate.yaml': `modes: { talk: { effects: [coordinate] }, act: { effects: [observe, act, coordinate] } }
initial: act
reset: act
transitions: [{ from: act, to: talk }, { from: talk, to: act }]
`,
  'specs/peripherals/control.yaml': `id: control
purpose: Leads the work.
tools: [read]
scope: full-codebase
entry: [default, from-any]
exit: { over: [work, review] }
${delegates}
${more}`,
  'specs/peripherals/work.yaml': `id: work
purpose: Changes the code.
tools: [read, write, bash]
scope: { paths: [src/, lib/] }
entry: [from-control]
exit: { back: control }
`,
  'specs/peripherals/review.yaml': `id: review
purpose: Looks at the code.
tools: [read, grep]
scope: full-codebase
entry: [from-control]
exit: { back: control }
`,
});

let world: World;
let before: string | undefined;

async function begin(delegates: string, more = ''): Promise<void> {
  world = new World({ ...specs(delegates, more), 'src/a.js': 'one\n', 'docs/a.md': 'one\n', 'lib/a.js': 'one\n' });
  process.env['XDG_STATE_HOME'] = world.env['XDG_STATE_HOME'];
  await trustCurrentConfig(world.root, world.env);
}

beforeEach(() => {
  before = process.env['XDG_STATE_HOME'];
});
afterEach(async () => {
  await world.close();
  if (before === undefined) delete process.env['XDG_STATE_HOME'];
  else process.env['XDG_STATE_HOME'] = before;
});

const agent = (type: string, id: string) => ({ agent_id: id, agent_type: type });
const start = (type: string) =>
  world.call('Agent', { subagent_type: type, description: 'the task', prompt: 'do it', run_in_background: false });
const write = (path: string, fields: object) =>
  world.call('Write', { file_path: world.path(path), content: 'two\n' }, { ...fields });

/**
 * The verdicts of all sessions, each compared with the others. `change` alters the entries that are read, `changeOthers`
 * those of a session that another one is compared with.
 */
async function verdicts(
  change: (stored: StoredEntry) => StoredEntry = (stored) => stored,
  changeOthers = change,
): Promise<readonly SessionVerification[]> {
  const store = sqliteStore(`${stateDir(world.root, world.env)}/evidence.db`);
  try {
    const read = async (id: string, alter: typeof change) => {
      const entries: StoredEntry[] = [];
      for await (const stored of store.entries(id)) entries.push(alter(stored));
      return entries;
    };
    const all = await store.sessions();
    const other = async (id: string, alter = changeOthers) => {
      const summary = all.find(({ sessionId }) => sessionId === id);
      if (!summary) return null;
      const pinned = JSON.parse(new TextDecoder().decode((await store.getBlob(summary.pin))!)) as SessionPin;
      return { pinned, entries: await read(id, alter) };
    };
    return await Promise.all(
      all.map(async ({ sessionId }) => {
        const { pinned, entries } = (await other(sessionId, change))!;
        return verifySession(sessionId, pinned, entries, { find: (id) => other(id) });
      }),
    );
  } finally {
    await store.close();
  }
}

describe('a sub-agent in a peripheral that its parent’s peripheral delegates to', () => {
  it('has its own tools and scope if the delegation says so, and both sessions verify', async () => {
    await begin('delegates: [{ to: work, within: own }, review]');
    expect((await write('src/b.js', {})).verdict).toBe('blocked');
    expect((await start('work')).verdict).not.toBe('blocked');
    const started = await world.sendEvent('SubagentStart', agent('work', 'a1'));
    expect(started.context).toContain('work');
    const wrote = await write('src/b.js', agent('work', 'a1'));
    expect(wrote.reason).toBe('');
    world.write('src/b.js', 'two\n');
    await world.done(wrote.id, 'Write', {}, agent('work', 'a1'));
    expect((await write('docs/b.md', agent('work', 'a1'))).reason).toBe('');
    expect((await write('lib/b.js', agent('work', 'a1'))).reason).toContain('out-of-scope');
    await world.sendEvent('SubagentStop', agent('work', 'a1'));
    const [parent, child] = await Promise.all([world.record(), world.record('a1')]);
    const made = await world.session(async (session) => (await session.evidence()).find(isDelegation)!);
    expect(toBody(made.body)).toMatchObject({ from: 'control', to: 'work', within: 'own', session: child.sessionId });
    const opened = await world.session(async (session) => toBody((await session.evidence())[0]!.body), 'a1');
    expect(opened).toMatchObject({ parent: parent.sessionId, delegation: made.id });
    expect((await verdicts()).flatMap(({ audit }) => audit.violations)).toEqual([]);
  });

  it.each(
    sample(
      [
        ['own', ['read', 'write', 'bash']],
        ['parent', ['read']],
      ] as const,
      2,
    ),
  )('finds the tools of its delegation over its parent’s connection, within: %s', async (within, expected) => {
    await begin(`delegates: [{ to: work, within: ${within} }]`);
    await world.call('Read', { file_path: world.path('src/a.js') });
    const { sessionId: session } = await world.record();
    const caller = { env: world.env, pid: null };
    const op = { op: 'tools', root: world.root, session } as const;
    const answer = await carryOutSessionRequest(world.host, caller, op, new AbortController().signal);
    const { value } = answer as { readonly value: readonly AgentTool[] };
    expect(value.flatMap(({ name, kind }) => (kind === 'tool' ? [name] : []))).toEqual(expected);
  });

  it('has only the tools that both peripherals allow if the delegation does not say `within: own`', async () => {
    await begin('delegates: [work]');
    await start('work');
    await world.sendEvent('SubagentStart', agent('work', 'a1'));
    expect(await world.session(async (session) => session.available().tools, 'a1')).toEqual(['read']);
    expect((await write('src/b.js', agent('work', 'a1'))).reason).toContain('tool-not-allowed');
    expect((await verdicts()).flatMap(({ audit }) => audit.violations)).toEqual([]);
  });

  it('has its parent’s mode, also after the parent’s mode changes', async () => {
    await begin('delegates: [{ to: work, within: own }]');
    await start('work');
    await world.sendEvent('SubagentStart', agent('work', 'a1'));
    expect((await write('src/b.js', agent('work', 'a1'))).reason).toBe('');
    await world.session((session) => session.setMode({ to: 'talk', reason: 'enough' }));
    expect((await write('src/c.js', agent('work', 'a1'))).reason).toContain('mode-forbids');
  });

  it.runIf(isDeep)('starts once for each delegation, each in a session of its own', async () => {
    await begin('delegates: [{ to: work, within: own }]');
    await start('work');
    await start('work');
    for (const id of ['a1', 'a2', 'a3']) await world.sendEvent('SubagentStart', agent('work', id));
    const places = await Promise.all(
      ['a1', 'a2', 'a3'].map((id) => world.session(async (s) => s.state.peripheral, id)),
    );
    expect(places).toEqual(['work', 'work', 'control']);
    expect((await verdicts()).flatMap(({ audit }) => audit.violations)).toEqual([]);
  });

  it('starts no sub-agent, which would work with the rights of the main agent', async () => {
    await begin('delegates: [{ to: work, within: own }, review]');
    await start('review');
    await world.sendEvent('SubagentStart', agent('review', 'a1'));
    const nested = await world.call('Agent', { subagent_type: 'work', prompt: 'do it' }, agent('review', 'a1'));
    expect([nested.verdict, nested.reason]).toEqual(['blocked', expect.stringContaining('nor start sub-agents')]);
  });

  it('is refused if the parent’s peripheral does not delegate to it, and the refusal names the possible ones', async () => {
    await begin('delegates: [review]');
    const refused = await start('work');
    expect(refused.verdict).toBe('blocked');
    expect(refused.reason).toContain('hop-not-allowed: no sub-agent may start in work from control.');
    expect(refused.reason).toContain('Start it in one of: review');
    expect((await start('general-purpose')).verdict).not.toBe('blocked');
    await world.sendEvent('SubagentStart', agent('general-purpose', 'a1'));
    expect(await world.session(async (session) => session.state.peripheral, 'a1')).toBe('control');
  });

  it('waits for the approval that the gates on its peripheral demand', async () => {
    await begin('delegates: [{ to: work, within: own }]', 'gates: { work: [{ approval: operator }] }\n');
    expect((await start('work')).reason).toContain('approval-required');
    const approver = { via: 'approver' as const, approve: async () => ({ by: 'mary' }) };
    const given = await world.session((session) => session.delegate({ to: 'work', reason: 'the task' }, { approver }));
    expect(given).toMatchObject({ ok: true, to: 'work' });
    expect((await verdicts()).flatMap(({ audit }) => audit.violations)).toEqual([]);
  });

  it('works in its parent’s peripheral, whatever its name, where nothing is delegated', async () => {
    await begin('');
    expect((await start('work')).verdict).not.toBe('blocked');
    await world.sendEvent('SubagentStart', agent('work', 'a1'));
    expect(await world.session(async (session) => session.state.peripheral, 'a1')).toBe('control');
    expect(await world.evidence()).toEqual(['session-open', 'start']);
  });
});

const isDelegation = ({ body }: { readonly body: unknown }) => toBody(body as never)?.event === 'delegation';

describe('the audit of a sub-agent', () => {
  const broken = async (change: (stored: StoredEntry) => StoredEntry): Promise<readonly string[]> =>
    (await verdicts(change)).flatMap(({ audit }) => audit.violations.map(({ rule, message }) => `${rule}: ${message}`));
  const altered = (event: string, fields: object) => (stored: StoredEntry) => {
    const body = toBody(stored.entry.body);
    return body?.event === event && (event !== 'session-open' || 'parent' in body)
      ? { ...stored, entry: { ...stored.entry, body: { ...body, ...fields } as never } }
      : stored;
  };

  beforeEach(async () => {
    await begin('delegates: [{ to: work, within: own }, review]');
    await start('work');
    await world.sendEvent('SubagentStart', agent('work', 'a1'));
    await world.sendEvent('SubagentStop', agent('work', 'a1'));
  });

  it('finds a session that names another delegation, and a delegation that names another session', async () => {
    expect(await broken(altered('session-open', { delegation: 'e-other' }))).toEqual(
      expect.arrayContaining([expect.stringContaining('has no delegation e-other of this session')]),
    );
    const child = (await world.record('a1')).sessionId;
    expect(await broken(altered('delegation', { session: (await world.record()).sessionId }))).toEqual(
      expect.arrayContaining([
        expect.stringContaining('does not name this delegation'),
        expect.stringMatching(/has no delegation .* of this session/),
      ]),
    );
    expect(child).toBeTypeOf('string');
  });

  it.runIf(isDeep)('lists a gap if the other session was erased or cannot be read', async () => {
    const erased = (stored: StoredEntry): StoredEntry => ({
      ...stored,
      entry: { ...stored.entry, body: null },
      body: null,
    });
    const unreadable = (): never => {
      throw new ChainError('not JSON');
    };
    for (const change of [erased, unreadable]) {
      const own = await verdicts();
      const others = await verdicts((stored) => stored, change);
      expect(others.map(({ ok }) => ok)).toEqual(own.map(({ ok }) => ok));
      expect(others.map(({ audit }) => audit.counts.gaps)).toEqual(own.map(({ audit }) => audit.counts.gaps + 1));
    }
  });

  it('finds a sub-agent that has more tools or scope than its delegation allows', async () => {
    const found = await broken(altered('delegation', { within: 'parent' }));
    expect(found).toEqual(
      expect.arrayContaining([
        'delegation: "within" of the sub-agent in work is "parent"',
        expect.stringContaining('the sub-agent has more: tools write, bash; write: src/, docs/; command: contained'),
      ]),
    );
  });

  it('finds a delegation to a peripheral that the parent’s peripheral does not name', async () => {
    const found = await broken(altered('delegation', { to: 'control' }));
    expect(found.join('; ')).toContain('delegation: a sub-agent was started in control');
  });

  it.runIf(isDeep)('finds a sub-agent whose scope ships', async () => {
    const pinOf = (agentId?: string) => world.session(async ({ specs, config }) => ({ specs, config }), agentId);
    const entriesOf = (agentId?: string) => world.session((session) => session.evidence(), agentId);
    const [parent, { specs, config }, entries] = [await pinOf(), await pinOf('a1'), await entriesOf()];
    const work = specs.peripherals['work']!;
    const scope = { ...work.scope, rule: { ...work.scope.rule, command: 'deploy' as const } };
    const audit = new SubAgentAudit({ specs: { ...specs, peripherals: { work: { ...work, scope } } }, config });
    audit.add((await entriesOf('a1'))[0]!);
    const stored = entries.map((entry) => ({ entry, head: '', body: '' }));
    const { violations } = await audit.judge(async () => ({ pinned: parent, entries: stored }));
    expect(violations.map(({ constraint }) => constraint)).toContain('a sub-agent must not ship');
  });

  it.runIf(isDeep)('reports a gap if the other session is not available', async () => {
    const { sessionId } = await world.record('a1');
    const entry = (await world.session(async (session) => session.evidence(), 'a1'))[0]!;
    const audit = new SubAgentAudit(await world.session(async ({ specs, config }) => ({ specs, config }), 'a1'));
    audit.add(entry);
    const { violations, gaps } = await audit.judge(async () => null);
    expect(violations).toEqual([]);
    expect(gaps.map(({ message }) => message).join()).toContain('is not available');
    expect(sessionId).toBe(entry.sessionId);
  });
});
