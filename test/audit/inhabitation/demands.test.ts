import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { recordTranscript } from '../../../src/adapters/core/transcript/record-transcript.ts';
import { mentionsName } from '../../../src/audit/inhabitation/context-injection.ts';
import { judgeInhabitation } from '../../../src/audit/inhabitation/judge-inhabitation.ts';
import type { SituationData, TranscriptItem } from '../../../src/evidence/transcript.ts';
import { fixtureSpecs, must, stage } from '../../session/sessions.ts';
import { Items, inhabit, judge } from './inhabited-sessions.ts';

const inhabited = await inhabit();
const entries = await inhabited.session.evidence();
const items: readonly TranscriptItem[] = inhabited.items.items;

/** The demands that fail with the changed items of the transcript, and their reasons. */
function failing(changed: readonly unknown[], problems: { line: number; message: string }[] = []) {
  const found = judgeInhabitation({ items: changed as TranscriptItem[], problems }, fixtureSpecs, entries);
  const fails = found.filter(({ verdict }) => verdict === 'fails');
  return {
    ids: fails.map(({ id }) => id).join(' '),
    why: fails.flatMap(({ findings }) => findings.map(({ reason }) => reason)),
  };
}

const numbered = (changed: readonly TranscriptItem[]): TranscriptItem[] => changed.map((item, n) => ({ ...item, n }));
const isCall = (tool: string) => (item: TranscriptItem) => item.kind === 'call' && item.tool === tool;
const callIndex = (tool: string, which = 0): number =>
  items.flatMap((item, index) => (isCall(tool)(item) ? [index] : []))[which] as number;
const changing = (index: number, change: (item: never) => object): TranscriptItem[] =>
  items.map((item, at) => (at === index ? ({ ...item, ...change(item as never) } as TranscriptItem) : item));
const inserting = (index: number, ...more: object[]): TranscriptItem[] =>
  numbered([
    ...items.slice(0, index),
    ...more.map((item) => ({ ...items[index - 1], ...item }) as TranscriptItem),
    ...items.slice(index),
  ]);
/** The answer to the call that entered explore. */
const entered = callIndex('hop') + 1;
const situated = (change: Partial<SituationData>) =>
  changing(entered, ({ situation }: { situation: SituationData }) => ({
    situation: { ...situation, ...change },
  }));
const reworded = (change: (text: string) => string) =>
  changing(entered, ({ text }: { text: string }) => ({ text: change(text) }));

it('the unchanged transcript fulfils every demand', () => expect(failing(items)).toEqual({ ids: '', why: [] }));

describe('P-1 (world replacement) fails', () => {
  const outside = {
    kind: 'call',
    source: 'agent',
    channel: 'call',
    callId: 'o',
    tool: 'read',
    input: {},
    outside: true,
  };
  it('if the agent acts outside the session', () => {
    const { ids, why } = failing(inserting(entered + 1, outside));
    expect(ids).toBe('P-1');
    expect(why).toEqual(['read did not go through the session']);
  });
  it('if the agent used a tool outside the session, and P-3 fails too if the tool was never presented', () =>
    expect(failing(inserting(entered + 1, { ...outside, tool: 'Bash' })).ids).toBe('P-1 P-3'));
  it('if the transcript of another session is mixed in', () =>
    expect(failing(inserting(3, { kind: 'opened', sessionId: 'other', source: 'hopgate' })).ids).toBe('P-1'));
  it('if another program acts in the agent’s name', () => {
    const without = items.filter((_, index) => index !== callIndex('read') && index !== callIndex('read') + 1);
    expect(failing(numbered(without)).ids).toBe('P-1 P-3');
  });
  it('if a call made a second step that its result does not name', async () => {
    const ids: string[] = [];
    const { session } = await stage({ onEntry: ({ id }) => ids.push(id) });
    const recorded = new Items();
    const agent = recordTranscript(agentSession(session), recorded, { evidence: () => ids.splice(0) });
    await agent.prompt();
    await agent.tools();
    await agent.call({ name: 'mode', input: { to: 'diagnose', reason: 'to look' } });
    await agent.call({ name: 'hop', input: { to: 'explore', reason: 'to look' } });
    await agent.tools();
    for (const path of ['src/a.ts', 'src/a.ts']) await agent.call({ name: 'read', input: { path } });
    const { items } = recorded;
    const [first, second] = items.flatMap((item) => (item.kind === 'result' ? item : [])).slice(-2);
    const once = items.filter((item) => !('callId' in item) || item.callId !== second!.callId);
    const evidence = [...first!.evidence!, ...second!.evidence!];
    const both = once.map((item) => (item === first ? { ...first, evidence } : item));
    const verdicts = async (items: readonly TranscriptItem[]) =>
      (await judge(session, { items, problems: [] })).verdicts;
    expect(await verdicts(once)).toMatchObject({ 'P-1': 'fails', 'P-3': 'fails' });
    expect(await verdicts(both)).toMatchObject({ 'P-1': 'holds', 'P-3': 'holds' });
  });
  it('if a visit begins within another one', () => {
    const start = entries.find(({ tags }) => tags.includes('start'))!;
    const twice = [...entries, { ...start, seq: entries.length }];
    const [first] = judgeInhabitation({ items, problems: [] }, fixtureSpecs, twice);
    expect(first?.findings.map(({ reason }) => reason)).toContain('explore was entered before reflect was left');
  });
});

describe('P-2 (context injection)', () => {
  it.each<[string, readonly TranscriptItem[], string]>([
    ['says nothing of the place', changing(entered, () => ({ situation: null })), 'does not say where the agent is'],
    ['names another place', situated({ peripheral: 'edit' }), 'the text says that the agent is in edit'],
    ['names another mode', situated({ mode: 'execute' }), 'the text says mode execute'],
    ['hides what is carried', situated({ state: {} }), 'the text does not show the context values of session-id'],
    ['offers too little', situated({ tools: ['read'] }), 'the text offers read'],
    [
      'offers too much',
      situated({ tools: [...fixtureSpecs.peripherals['explore']!.tools, 'edit'] }),
      'the text offers',
    ],
    ['hides an exit', situated({ exits: [] }), 'the text names none'],
    ['does not say where', reworded((text) => text.replaceAll('explore', 'somewhere')), 'where it is: explore'],
    ['does not say the mode', reworded((text) => text.replaceAll('diagnose', 'some mode')), 'what it sees: diagnose'],
    ['does not say a tool', reworded((text) => text.replaceAll('glob', 'g')), 'what it can do: glob'],
    [
      'does not say an exit',
      reworded((text) => text.replaceAll('found-target', 'x')),
      'how it can leave: found-target',
    ],
    [
      'does not say a destination',
      reworded((text) => text.replaceAll('discipline', 'x')),
      'where it can leave to: discipline',
    ],
    ['is nothing', reworded(() => ''), 'where it is: explore'],
  ])('fails if the first delivery %s', (_what, changed, reason) => {
    const { ids, why } = failing(changed);
    expect(ids).toMatch(/^P-2/);
    expect(why.join('\n')).toContain(reason);
  });

  it('fails if the first delivery comes after the first act', async () => {
    const { session } = await stage();
    const stream = new Items();
    const agent = recordTranscript(agentSession(session), stream);
    await must(session.setMode({ to: 'diagnose', by: 'operator' }));
    await must(session.start('explore', { by: 'operator' }));
    await agent.call({ name: 'read', input: { path: 'src/a.ts' } });
    await agent.prompt();
    const { findings } = await judge(session, stream.transcript);
    expect(findings[1]).toMatchObject({ id: 'P-2', verdict: 'fails' });
  });

  it.each(['operator', 'agent'] as const)(
    'passes if the %s started the visit, and the situation was delivered before the agent’s first act',
    async (by) => {
      const { session } = await stage();
      const stream = new Items();
      const agent = recordTranscript(agentSession(session), stream);
      await must(session.setMode({ to: 'diagnose', by: 'operator' }));
      await must(session.start('explore', { by }));
      await agent.prompt();
      await agent.call({ name: 'read', input: { path: 'src/a.ts' } });
      const { verdicts } = await judge(session, stream.transcript);
      expect(verdicts).toMatchObject({ 'P-1': 'holds', 'P-2': 'holds', 'P-3': 'holds' });
    },
  );
});

describe('P-3 (confinement) fails', () => {
  it('if a call has no evidence', () => {
    const call = {
      kind: 'call',
      source: 'agent',
      channel: 'call',
      callId: 'x',
      tool: 'grep',
      input: {},
      outside: false,
    };
    const result = {
      kind: 'result',
      source: 'hopgate',
      channel: 'result',
      callId: 'x',
      status: 'ok',
      code: null,
      text: '',
      situation: null,
      evidence: null,
    };
    const { ids, why } = failing(inserting(entered + 1, call, result));
    expect(ids).toBe('P-3');
    expect(why).toEqual(['the call of grep left no evidence']);
  });
  it('if the call and the entry differ', () =>
    expect(failing(changing(callIndex('read'), () => ({ input: { path: 'src/b.ts' } }))).ids).toBe('P-1 P-3'));
  it('if a refusal is presented as a success', () => {
    const { ids } = failing(changing(callIndex('edit') + 1, () => ({ status: 'ok', code: null })));
    expect(ids).toBe('P-1 P-3');
  });
  it('if a result names the entry of another call', () =>
    expect(failing(changing(callIndex('read') + 1, () => ({ evidence: [entries[0]!.id] }))).ids).toBe('P-1 P-3'));
  it('if a tool was used that was not presented', () => {
    const changed = items.map((item) =>
      item.kind === 'offered'
        ? { ...item, tools: item.tools.filter((tool) => tool !== 'read') }
        : 'situation' in item && item.situation
          ? { ...item, situation: { ...item.situation, tools: [] } }
          : item,
    );
    expect(failing(changed).why).toContain('read was used, but not offered to the agent');
  });
});

describe('P-4 (explicit exit)', () => {
  async function ending(end: (made: Awaited<ReturnType<typeof inhabit>>) => Promise<unknown>) {
    const made = await inhabit();
    await end(made);
    const { findings } = await judge(made.session, made.items.transcript);
    return findings[3];
  }
  it('fails if the session was closed during a visit', async () => {
    const made = await inhabit();
    await made.session.close('enough', { by: 'operator' });
    const all = (await made.session.evidence()).filter(({ tags }) => !tags.includes('stop') || tags.includes('hop'));
    const [, , , fourth] = judgeInhabitation(made.items.transcript, fixtureSpecs, all);
    expect(fourth).toMatchObject({ verdict: 'fails' });
    expect(fourth?.findings.map(({ reason }) => reason).join()).toContain('closed during the visit');
  });
  it('holds for a session that is still in a visit', async () => {
    const end = await ending(({ agent }) => agent.call({ name: 'musn-log', input: {} }));
    expect(end).toMatchObject({ verdict: 'holds' });
  });
  it('fails if the agent’s program stops the visit', async () => {
    const end = await ending(({ session }) => must(session.stop('the script is over')));
    expect(end).toMatchObject({
      verdict: 'fails',
      findings: [{ reason: 'the agent did not request to leave reflect' }],
    });
  });
  it('holds if the operator ends the visit', async () => {
    const end = await ending(({ session }) => must(session.stop('enough', { by: 'operator' })));
    expect(end).toMatchObject({ verdict: 'holds' });
  });
  it('holds if a refused hop was followed by a successful one', async () => {
    const end = await ending(async ({ agent }) => {
      await agent.call({ name: 'hop', input: { to: 'deploy', reason: 'I want to deploy' } });
      await agent.call({ name: 'hop', input: { to: 'explore', exit: 'hop-explore', reason: 'I hop back to explore' } });
    });
    expect(end).toMatchObject({ verdict: 'holds' });
  });
});

describe('P-5 (evidence of inhabitation)', () => {
  const spoken = (say: (text: string) => string) =>
    items.map((item) => {
      if (item.kind === 'said') return { ...item, text: say(item.text) };
      if (item.kind !== 'call' || !('reason' in (item.input as object))) return item;
      return { ...item, input: { ...(item.input as object), reason: say('') } };
    });
  const scoreOf = (changed: readonly unknown[]) =>
    judgeInhabitation({ items: changed as TranscriptItem[], problems: [] }, fixtureSpecs, entries)[4];

  it('gives the first person and the words of the peripherals a higher score', () => {
    const own = scoreOf(items)?.score ?? 0;
    const bland = scoreOf(spoken(() => 'The task has been completed successfully.'));
    const lost = scoreOf(spoken(() => 'I will help you with that.'));
    expect(bland).toMatchObject({ verdict: 'fails' });
    expect(bland?.findings[0]?.reason).toContain('the agent hopped or changed its mode');
    expect(lost).toMatchObject({ verdict: 'holds' }); // the agent speaks in the first person, and moves by the exits
    expect(own).toBeGreaterThan(lost?.score ?? 1);
    expect(lost?.score).toBeGreaterThan(bland?.score ?? 1);
  });
  it('fails if the agent said nothing', () =>
    expect(scoreOf(spoken(() => ''))?.findings[0]?.reason).toBe('the agent wrote no words'));
});

describe('P-6 (interleaved streams) fails', () => {
  const last = items.length - 1;
  it.each<[string, readonly TranscriptItem[], string]>([
    ['if an item is missing', items.filter((_, index) => index !== 2), 'the number of the item is not 2'],
    ['if time goes back', changing(last, () => ({ at: '2020-01-01T00:00:00.000Z' })), 'earlier'],
    ['if an item has no source', changing(3, () => ({ source: ' ' })), 'the item names no source'],
    ['if the agent answers itself', changing(entered, () => ({ source: 'agent' })), 'result came from agent'],
    ['if its own words come as another’s', changing(3, () => ({ source: 'agent' })), 'its own words'],
    ['if a result answers nothing', changing(entered, () => ({ callId: 'none' })), 'belongs to no unanswered call'],
    [
      'if an answer comes before its call',
      numbered([...items.slice(0, entered - 1), items[entered]!, items[entered - 1]!, ...items.slice(entered + 1)]),
      'belongs to no unanswered call',
    ],
  ])('%s', (_what, changed, reason) => {
    const { ids, why } = failing(changed);
    expect(ids).toMatch(/P-6$/);
    expect(why.join('\n')).toContain(reason);
  });
  it('if a line of the transcript cannot be read', () =>
    expect(failing(items, [{ line: 4, message: 'it is not JSON' }])).toMatchObject({ ids: 'P-6' }));
});

describe('an altered transcript', () => {
  const acting = items.flatMap((item, index) =>
    item.kind === 'call' && !['status', 'why'].includes(item.tool) ? [index] : [],
  );
  it('is noticed if a call is missing', () => {
    fc.assert(
      fc.property(fc.constantFrom(...acting), (index) => {
        // Without its call, the first entry is as if the agent had been placed there.
        const shows = index === entered - 1 ? /P-6/ : /P-1.* P-3.* P-6/;
        expect(failing(items.filter((_, at) => at !== index)).ids).toMatch(shows);
      }),
    );
  });
  it('is noticed if two items are exchanged', () => {
    fc.assert(
      fc.property(fc.nat(items.length - 1), fc.nat(items.length - 1), (a, b) => {
        fc.pre(a !== b);
        const swapped = [...items];
        [swapped[a], swapped[b]] = [swapped[b]!, swapped[a]!];
        expect(failing(swapped).ids).toMatch(/P-6/);
      }),
    );
  });
});

describe('the mention of a name in a text', () => {
  it.each([
    ['hop-edit', 'Leave by hop-edit.', true],
    ['hop-edit', 'Leave by Hop edit.', true],
    ['edit', 'Leave by hop-edit.', false],
    ['edit', 'You are in "edit".', true],
    ['edit', 'You are in edit-mode', false],
    ['edit', 'editor', false],
    ['a.b', 'axb', false],
  ])('is found: %s in %j: %s', (name, text, holds) => expect(mentionsName(text, name)).toBe(holds));
});
