import { describe, expect, it } from 'vitest';
import { splitWords } from '../../src/base/text.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import type { Entry } from '../../src/evidence/entry.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { ToolCall } from '../../src/ports/tool-backend.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { bodies, changed, denied, events, fixtureSpecs, lead, must, stage, TestClock } from './sessions.ts';

const edit = { tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } };
const read = { tool: 'read', args: ['src/a.ts'] };

/** A store that reports when a batch has become durable, with a delay. */
function slowStore(clock: TestClock, log: string[]): EvidenceStore {
  const store = memoryStore({ clock });
  return {
    ...store,
    async append(lease, after, drafts) {
      await new Promise((done) => setTimeout(done, 2));
      const stored = await store.append(lease, after, drafts);
      log.push(`durable ${stored.map(({ entry }) => toBody(entry.body)?.event).join(' ')}`);
      return stored;
    },
  };
}

describe('the order of a step', () => {
  it('makes the intent durable before the tool runs, and the outcome before the answer', async () => {
    const log: string[] = [];
    const clock = new TestClock();
    const ran = () => {
      log.push('ran');
      return changed('src/a.ts');
    };
    const { session } = await stage({
      clock,
      store: slowStore(clock, log),
      results: { edit: ran, read: () => String(log.push('ran')) },
    });
    await lead(session, 'edit');
    log.length = 0;
    await must(session.step(edit));
    log.push('answered');
    await must(session.step(read));
    log.push('answered');
    await denied(session.step({ tool: 'grep', args: ['a'] }));
    log.push('answered');
    expect(log).toEqual([
      'durable intent',
      'ran',
      'durable outcome',
      'answered',
      'ran',
      'durable step',
      'answered',
      'durable denial',
      'answered',
    ]);
  });

  it('runs nothing if the intent cannot be stored', async () => {
    const clock = new TestClock();
    const store = memoryStore({ clock });
    let isFull = false;
    const full: EvidenceStore = {
      ...store,
      append: (...batch) => (isFull ? Promise.reject(new Error('the disk is full')) : store.append(...batch)),
    };
    const { session, backend } = await stage({ clock, store: full });
    await lead(session, 'edit');
    isFull = true;
    await expect(session.step(edit)).rejects.toThrow('the disk is full');
    expect(backend.calls).toEqual([]);
    isFull = false;
    await must(session.step(edit));
    expect(backend.calls).toHaveLength(1);
  });

  it('reports each entry after it is durable, in order', async () => {
    const reported: Entry[] = [];
    const { session } = await stage({ onEntry: (entry) => reported.push(entry) });
    await lead(session, 'deploy');
    expect(reported).toEqual(await session.evidence());
  });

  it('is in the state of its evidence after a call in which onEntry threw', async () => {
    let isBroken = false;
    const { session } = await stage({
      onEntry: () => {
        if (isBroken) throw new Error('the caller is wrong');
      },
    });
    await lead(session, 'explore');
    isBroken = true;
    const hop = session.hop({ to: 'edit', exit: 'found-target', reason: 'it is there' });
    await expect(hop).rejects.toThrow('the caller is wrong');
    isBroken = false;
    expect(session.state.peripheral).toBe('edit');
    expect(await session.step(read)).toMatchObject({ ok: true });
  });

  it('runs parallel calls one at a time in their order', async () => {
    let running = 0;
    let most = 0;
    const slow = async () => {
      most = Math.max(most, ++running);
      await new Promise((done) => setTimeout(done, 3));
      running--;
      return changed('src/a.ts');
    };
    const { session } = await stage({ results: { edit: slow, read: slow } });
    await lead(session, 'edit');
    const before = (await session.evidence()).length;
    const results = await Promise.all([
      session.step(edit),
      session.step(read),
      session.step({ tool: 'nothing' }),
      session.step(edit),
      session.hop({ to: 'test', exit: 'hop-test', reason: 'on' }),
      session.step(edit),
      session.stop('enough'),
    ]);
    expect(most).toBe(1);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false, true, true, false, true]);
    expect((await events(session)).slice(before)).toEqual(
      splitWords('intent outcome step denial intent outcome stop hop start denial stop'),
    );
  });
});

describe('the tree of entries', () => {
  it('gives each event the parent that the table states', async () => {
    const { session, clock, reopen } = await stage();
    await denied(session.step(read));
    await lead(session, 'edit');
    await denied(session.step({ tool: 'grep', args: ['a'] }));
    await must(session.step(edit));
    await must(session.step(read));
    await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'on', fruit: { 'commit-message': 'Change a' } }));
    await must(session.step({ tool: 'bash-test' }));
    await must(session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' }));
    await must(session.hop({ to: 'reflect', exit: 'blocked', reason: 'look back' }));
    await must(session.hop({ to: 'chat', exit: 'hop-chat', reason: 'talk' }));
    await must(session.hop({ to: 'edit', exit: 'user-request', reason: 'asked for', by: 'operator' }));
    await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'again' }));
    clock.advance(31);
    await denied(session.step({ tool: 'bash-test' }));
    await must(session.stop('out of time'));
    await must(session.start('edit', { by: 'operator' }));
    await session.detach();
    const again = await reopen();
    await must(again.stop('enough'));
    await must(again.start('reflect'));
    await must(again.step({ tool: 'musn-log' }));
    await must(again.setMode({ to: 'discuss', reset: true, by: 'operator' }));
    await must(again.stop('looked back'));
    await must(again.close());

    const entries = await again.evidence();
    const bodyAt = (id: string | undefined) => {
      const parent = entries.find((entry) => entry.id === id);
      return parent && toBody(parent.body);
    };
    const seen = new Set<string>();
    let visit: string[] = [];
    for (const [index, entry] of entries.entries()) {
      const body = toBody(entry.body);
      const before = entries[index - 1];
      if (!body) throw new Error('no body');
      seen.add(body.event);
      switch (body.event) {
        case 'session-open':
          expect(entry).not.toHaveProperty('inReplyTo');
          expect([index, entry.claim]).toEqual([0, 'goal']);
          continue;
        case 'start':
          // The hop that led to the visit; without a hop the entry before it, at first the root.
          expect(entry.inReplyTo).toBe(visit.length === 0 && !seen.has('stop') ? entries[0]?.id : before?.id);
          expect(entry.claim).toBe('goal');
          visit = [entry.id];
          break;
        case 'step':
        case 'intent':
          expect(entry.inReplyTo).toBe(visit.at(-1));
          expect(entry.claim).toBe('step');
          visit.push(entry.id);
          break;
        case 'outcome':
          expect(bodyAt(entry.inReplyTo)).toMatchObject({ event: 'intent', tool: body.tool });
          expect(entry.claim).toBe('evidence');
          visit.push(entry.id);
          break;
        case 'stop':
          expect(entry.inReplyTo).toBe(visit.at(-1));
          expect(entry.claim).toBe('conclusion');
          expect(bodyAt(entry.inReplyTo)?.event).not.toBe('stop');
          break;
        case 'par':
          expect(entry.inReplyTo).toBe(before?.id);
          expect(entry.claim).toBe('evidence');
          visit.push(entry.id);
          break;
        default:
          expect(entry.inReplyTo).toBe(before?.id);
          expect(entry.claim).toBe(
            ['denial', 'expired', 'session-closed'].includes(body.event) ? 'observation' : 'step',
          );
      }
      // One tree: no orphans, and only what came before is replied to.
      expect(entries.slice(0, index).some(({ id }) => id === entry.inReplyTo)).toBe(true);
    }
    expect([...seen].toSorted()).toEqual([
      'approval',
      'denial',
      'expired',
      'hop',
      'intent',
      'mode',
      'outcome',
      'par',
      'session-closed',
      'session-open',
      'start',
      'step',
      'stop',
    ]);
  });

  it('has the type and the author of each entry', async () => {
    const { session, clock } = await stage();
    await lead(session, 'test');
    clock.advance(31);
    await must(session.settle());
    await must(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'back' }));
    await must(session.step({ tool: 'musn-log' }));
    await must(session.setMode({ to: 'discuss', reset: true, by: 'operator' }));
    await must(session.stop('done'));
    const entries = await session.evidence();
    const of = (event: string) =>
      entries
        .filter(({ body }) => toBody(body)?.event === event)
        .map(({ type, author, peripheral }) => ({ type, author, peripheral }));
    expect(of('expired')).toEqual([{ type: 'coordination', author: 'clock', peripheral: 'test' }]);
    expect(of('hop').map(({ type }) => type)).toEqual(Array(3).fill('gate-traversal'));
    expect(of('approval')).toEqual([{ type: 'gate-traversal', author: 'operator', peripheral: 'explore' }]);
    expect(of('mode').map(({ type, author }) => [type, author])).toEqual([
      ['mode-transition', 'tester'],
      ['mode-transition', 'tester'],
      ['mode-transition', 'operator'],
    ]);
    expect(of('step')).toEqual([{ type: 'reflection', author: 'tester', peripheral: 'reflect' }]);
    expect(of('par')).toEqual([{ type: 'reflection', author: 'tester', peripheral: 'reflect' }]);
  });
});

describe('a hop', () => {
  it('appends its three entries (stop, hop, start) at once', async () => {
    const log: string[] = [];
    const clock = new TestClock();
    const { session } = await stage({ clock, store: slowStore(clock, log) });
    await lead(session, 'test');
    await must(session.step({ tool: 'bash-test' }));
    log.length = 0;
    await must(session.hop({ to: 'deploy', exit: 'pass', reason: 'all pass' }));
    await must(session.hop({ to: 'reflect', exit: 'blocked', reason: 'back' }));
    await must(session.hop({ to: 'chat', exit: 'hop-chat', reason: 'talk' }));
    expect(log).toEqual(['durable approval stop hop start', 'durable stop hop start', 'durable par stop hop start']);
  });

  it('changes nothing but the denial when it is refused', async () => {
    const { session } = await stage({ approver: null });
    await must(session.start('explore'));
    await must(session.setMode({ to: 'diagnose' }));
    await must(session.step(read));
    const { denials: _, ...before } = session.state;
    for (const hop of [
      { to: 'deploy', reason: 'ship' },
      { to: 'edit', exit: 'par-generated', reason: 'x' },
      { to: 'edit', exit: 'found-target', reason: ' ' },
      { to: 'edit', exit: 'found-target', reason: 'there', fruit: { summary: 7 } },
      { to: 'nowhere', reason: 'x' },
    ])
      await denied(session.hop(hop));
    const { denials, ...after } = session.state;
    expect(after).toEqual(before);
    expect(denials).toBe(5);
    expect((await events(session)).slice(-6)).toEqual(['step', ...Array(5).fill('denial')]);
    await must(session.hop({ to: 'edit', exit: 'found-target', reason: 'there' }));
  });

  it('infers the exit that the reason names, or the only one that holds', async () => {
    const { session } = await stage();
    await lead(session, 'deploy');
    expect(await must(session.hop({ to: 'reflect', reason: 'deployed' }))).toMatchObject({ exit: 'deployed' });
    await must(session.hop({ to: 'chat', exit: 'hop-chat', reason: 'talk' }));
    await must(session.hop({ to: 'explore', exit: 'hop-explore', reason: 'on' }));
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'on' }));
    await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'on' }));
    await must(session.step({ tool: 'bash-test' }));
    // Only pass opens deploy from here.
    expect((await denied(session.hop({ to: 'deploy', reason: 'ship' }))).denial.code).toBe('missing-context');
  });
});

describe('the result of a tool', () => {
  it('is a denial if the backend refuses', async () => {
    const refusal = {
      outcome: {
        status: 'refused' as const,
        code: 'out-of-scope' as const,
        argument: 'path',
        message: 'a link leaves the root',
        remedy: 'name the file itself',
      },
      effects: [],
    };
    const { session } = await stage({ results: { read: refusal, edit: refusal } });
    await lead(session, 'edit');
    const looked = await denied(session.step({ tool: 'read', args: ['src/link'] }));
    expect(looked.denial).toMatchObject({
      code: 'out-of-scope',
      message: 'read: path is out of scope: a link leaves the root',
      remedy: 'Name the file itself.',
    });
    const acted = await denied(session.step(edit));
    expect(acted.evidence.map(({ body }) => toBody(body)?.event)).toEqual(['intent', 'outcome', 'denial']);
    expect((await events(session)).slice(-4)).toEqual(['denial', 'intent', 'outcome', 'denial']);
    expect((await must(session.stop('enough'))).fruit['changes']).toBe(0);
  });

  it('is a failure if the backend throws, with unobserved effects if the tool acts', async () => {
    const broken = { name: 'broken', tools: ['read', 'edit'], run: async () => Promise.reject(new Error('lost')) };
    const { session } = await stage({ backends: [broken] });
    await must(session.start('explore'));
    await must(session.setMode({ to: 'diagnose' }));
    await must(session.setMode({ to: 'execute' }));
    const looked = await must(session.step(read));
    expect(looked).toMatchObject({
      outcome: 'failed',
      result: null,
      error: { code: 'backend-error', message: '[tools/broken] lost' },
    });
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'on' }));
    await must(session.step(edit));
    expect((await bodies(session)).at(-1)).toMatchObject({
      event: 'outcome',
      outcome: { status: 'failed', code: 'backend-error' },
      effects: 'unobserved',
    });
  });

  it('names tools that no backend serves', async () => {
    const { session } = await stage({ backends: [] });
    await lead(session, 'explore');
    expect((await denied(session.step(read))).denial).toMatchObject({
      code: 'unknown-tool',
      message: 'no backend serves the tool "read"',
      remedy: expect.stringContaining('only the operator can open a session with a backend'),
    });
    expect(session.why(read)).toMatchObject({ message: 'no backend serves the tool "read"' });
    expect(session.available().tools).toEqual([]);
  });

  it('can be aborted by the caller’s signal', async () => {
    const { session, backend } = await stage();
    await lead(session, 'edit');
    const result = await must(session.step({ ...edit, signal: AbortSignal.abort() }));
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'aborted' } });
    expect((await events(session)).slice(-2)).toEqual(['intent', 'outcome']);
    expect(backend.calls).toEqual([]);
  });

  it('is limited by the scope of the peripheral and the settings of the repository', async () => {
    const grants: unknown[] = [];
    const spy = {
      name: 'spy',
      tools: ['read', 'edit'],
      run: async ({ envelope }: ToolCall) => {
        grants.push(envelope);
        return changed('src/a.ts');
      },
    };
    const { session, root } = await stage({ backends: [spy], config: { scopes: { edit: ['lib/'] } } });
    await lead(session, 'explore');
    await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'on' }));
    await must(session.step({ tool: 'edit', args: { path: 'lib/a.ts', old: 'a', new: 'b' } }));
    expect(grants).toMatchObject([
      {
        root,
        peripheral: 'edit',
        readableFiles: null,
        unsafeNoSandbox: false,
        scope: { ...fixtureSpecs.peripherals['edit']?.scope.rule, write: ['lib/'] },
      },
    ]);
    await denied(session.step(edit));
  });
});

it('a session keeps the spec that it was opened with', async () => {
  const specs = structuredClone(fixtureSpecs);
  const { session, reopen } = await stage({ specs });
  await must(session.start('explore'));
  await session.detach();
  expect(() => Object.assign(specs.peripherals['explore'] ?? {}, { tools: [] })).toThrow('read only');
  const later = await reopen();
  await must(later.setMode({ to: 'diagnose' }));
  expect(later.available().tools).toContain('grep');
  await must(later.step({ tool: 'grep', args: ['a'] }));
});

it('a backend cannot change the rules by which its calls are judged', async () => {
  const widen = (_: unknown, { envelope, tool }: ToolCall) => {
    const tries = [
      () => (envelope.scope.write as string[]).push('**'),
      () => (envelope.config.web.allow as string[]).push('example.com'),
      () => Object.assign(tool, { effect: 'observe', parameters: [] }),
    ];
    return tries.map((attempt) => {
      try {
        return Boolean(attempt());
      } catch {
        return false;
      }
    });
  };
  const { session } = await stage({ results: { edit: widen } });
  await lead(session, 'edit');
  expect(await must(session.step(edit))).toMatchObject({ result: [false, false, false] });
});
