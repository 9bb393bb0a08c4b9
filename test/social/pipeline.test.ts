import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compareGeneratedFiles } from '../../src/compile/write-generated-files.ts';
import { idsWithSession, openSession } from '../../src/open-session.ts';
import { type EvidenceStore, StoreError } from '../../src/ports/evidence-store.ts';
import type { Session } from '../../src/session/session.ts';
import { readSocialOutcome } from '../../src/social/message-evidence.ts';
import { sendSocialMessage } from '../../src/social/pipeline.ts';
import type { SenderConnection, SocialServices } from '../../src/social/pipeline-types.ts';
import { pipelineDiagram } from '../../src/social/social-stages.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import type { Json, SpecSet } from '../../src/spec/types.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { depth, isDeep } from '../depth.ts';

let store: EvidenceStore;
let services: SocialServices;
let root: string;
let sender: Session;
let recipient: Session;
let specs: SpecSet;

const open = (agent: string, id?: string) =>
  openSession({
    root,
    agent,
    store,
    specs,
    approver: () => true,
    ...(id === undefined ? {} : { ids: idsWithSession(id) }),
  });

beforeEach(async () => {
  store = memoryStore();
  root = mkdtempSync(join(tmpdir(), 'social-'));
  const builtIn = await loadSpecs('specs');
  const { chat } = builtIn.peripherals;
  specs = { ...builtIn, peripherals: { ...builtIn.peripherals, chat: { ...chat!, tools: ['bell'] } } };
  sender = await open('ann');
  await sender.start('chat');
  recipient = await open('bob');
  services = {
    store,
    messages: store.messages!,
    now: Date.now,
    opener: { root, readModeGate: async () => specs.modeGate, open: (id) => open('unassigned', id) },
    ringAs: (_, { id: messageId, to, text, act }) => sender.step({ tool: 'bell', args: { to, text, act }, messageId }),
  };
});
afterEach(async () => {
  await sender.detach();
  await recipient.detach();
  await store.close();
  rmSync(root, { recursive: true });
});

const operator: SenderConnection = { transport: 'cli', principal: 'operator', name: 'operator' };
const connectionOf = (principal: SenderConnection['principal']): SenderConnection =>
  principal === 'agent'
    ? { transport: 'http', principal, name: sender.id }
    : principal === 'clock'
      ? { transport: 'timer', principal, name: '' }
      : operator;
let ids = 0;
const sent = (payload: Json, connection = operator, to: string | null = `session:${recipient.id}`, id = `m-${ids++}`) =>
  sendSocialMessage(services, connection, { id, to, payload });

async function reach(mode: string): Promise<void> {
  if (mode !== 'discuss') expect((await recipient.setMode({ to: 'diagnose' })).ok).toBe(true);
  if (mode === 'execute') expect((await recipient.setMode({ to: 'execute', by: 'operator' })).ok).toBe(true);
}

describe('a message to a session', () => {
  const table = ['discuss', 'diagnose', 'execute'].flatMap((mode) =>
    (['coordination', 'action'] as const).flatMap((talk) =>
      (['agent', 'operator', 'clock'] as const).map((by) => {
        const code = talk === 'coordination' ? null : by === 'clock' ? 'clock-asks-nothing' : 'mode-forbids';
        return { mode, talk, by, code: mode === 'execute' && by !== 'clock' ? null : code };
      }),
    ),
  );

  it.each(table)(
    'in mode $mode, with $talk from the $by, is answered with the code $code (null: delivered)',
    async ({ mode, talk, by, code }) => {
      await reach(mode);
      const result = await sent(talk === 'action' ? 'Fix the login page.' : 'Who owns the deploy?', connectionOf(by));
      const inbox = await store.messages!.inbox(`session:${recipient.id}`);
      if (code === null) {
        expect(result).toMatchObject({ ok: true, talk, mode, outcome: { valid: true, state: 'sent' } });
        expect(inbox).toHaveLength(1);
      } else {
        expect(result).toMatchObject({ ok: false, stage: 'dispatch', code });
        expect(inbox).toEqual([]);
      }
    },
  );

  it('may ask its recipient to look at something in the mode diagnose', async () => {
    await reach('diagnose');
    expect(await sent('Look at the failing test.')).toMatchObject({ ok: true, talk: 'action', asks: 'observe' });
  });

  it('is judged by the mode of the recipient, not of the sender', async () => {
    await sender.setMode({ to: 'diagnose' });
    await sender.setMode({ to: 'execute', by: 'operator' });
    expect(await sent('Delete it.', connectionOf('agent'))).toMatchObject({ ok: false, code: 'mode-forbids' });
  });

  it('from an agent needs the tool bell in the agent’s peripheral', async () => {
    await sender.stop('done');
    expect(await sent('Hello?', connectionOf('agent'))).toMatchObject({ ok: false, code: 'sender-refused' });
    expect(await store.messages!.inbox(`session:${recipient.id}`)).toEqual([]);
  });
});

describe('a message to nobody', () => {
  it('opens a session in discuss, which refuses an action', async () => {
    expect(await sent('Who is here?', operator, null)).toMatchObject({ ok: true, opened: true, mode: 'discuss' });
    const refused = await sent('Fix it.', operator, null);
    expect(refused).toMatchObject({ ok: false, code: 'mode-forbids', to: null });
  });

  it.each([
    ['an action', 'Fix it.', operator, 'mode-forbids'],
    ['an action from the clock', 'Fix it.', connectionOf('clock'), 'clock-asks-nothing'],
    ['a text that is too long', 'Who? '.repeat(20_000), operator, 'invalid-text'],
  ] as const)('opens no session if it is refused: %s', async (_, text, connection, code) => {
    const before = await store.sessions();
    expect(await sent(text, connection, null)).toMatchObject({ ok: false, code });
    expect(await store.sessions()).toEqual(before);
  });
});

describe('a message to another machine', () => {
  beforeEach(() => store.messages!.addNode('desk'));

  it.each(['session:s-1@desk', 'agent:codex@desk'])('coordinates with %s, whose mode is not known', async (to) => {
    expect(await sent('Who owns the deploy?', operator, to)).toMatchObject({ ok: true, to, mode: null });
    expect(await sent('Fix the login page.', operator, to)).toMatchObject({ ok: false, code: 'mode-forbids' });
  });

  it('may ask a person for an action', async () => {
    expect(await sent('Fix it.', operator, 'person:joe@desk')).toMatchObject({ ok: true, talk: 'action' });
  });

  it('cannot have an id in the form of another machine’s ids', async () => {
    const result = await sent('Hi', operator, 'person:joe@desk', 'm-1@desk');
    expect(result).toMatchObject({ ok: false, code: 'invalid-message' });
  });
});

describe('each stage', () => {
  it('of the social pipeline can end a message with a failure, which is recorded as evidence', async () => {
    await sender.stop('done');
    expect((await sender.close('done')).ok).toBe(true);
    const failures = [
      await sent('Hi', { transport: 'http', principal: 'agent', name: 'nobody' }),
      await sent('Hi', { transport: 'http', principal: 'agent', name: '' }),
      await sent('Hi', connectionOf('agent')),
      await sent('Hi', { ...operator, name: 'clock' }),
      await sent(7),
      await sent(' '),
      await sent('Hi', operator, 'agent:carl'),
    ];
    expect(failures.map((each) => (each.ok ? 'ok' : `${each.stage}: ${each.code}`))).toEqual([
      'presence: unknown-sender',
      'presence: invalid-connection',
      'presence: not-ready',
      'authenticate: not-authenticated',
      'mode: invalid-message',
      'mode: invalid-message',
      'dispatch: unknown-recipient',
    ]);
    for (const { subject, message } of failures) {
      const { entries } = await store.query({ subject, ephemeral: true });
      expect(entries.map(({ entry }) => entry.body)).toMatchObject([{ event: 'failure', message }]);
    }
  });
});

describe('the outcome', () => {
  it('of a message is found under the subject that dispatch wrote, and follows the receipts', async () => {
    const receipt = await sent('Who owns the deploy?', operator, `session:${recipient.id}`, 'm-own');
    const { entries } = await store.query({ subject: receipt.subject, ephemeral: true });
    expect(entries.map(({ entry }) => entry.claim).sort()).toEqual(['conclusion', 'goal']);
    expect(JSON.stringify(entries)).not.toContain('Who owns');
    await recipient.inbox();
    expect(await readSocialOutcome(store, store.messages!, 'm-own')).toEqual({
      type: 'coordination-complete',
      valid: true,
      state: 'delivered',
    });
    expect(await readSocialOutcome(store, store.messages!, 'm-other')).toBeNull();
  });

  it('of a message that asks for an action is a submitted task', async () => {
    await reach('execute');
    expect(await sent({ type: 'task-submission' })).toMatchObject({ outcome: { type: 'task-submission' } });
  });

  it('of a repeated message is the same, and another message with its id is refused', async () => {
    const first = await sent('Hi', operator, `session:${recipient.id}`, 'm-same');
    expect(await sent('Hi', operator, null, 'm-same')).toEqual(first);
    expect(await sent('Ho', operator, null, 'm-same')).toMatchObject({ ok: false, code: 'id-reused' });
    expect(await store.messages!.inbox(`session:${recipient.id}`)).toHaveLength(1);
  });
});

it('a message whose delivery failed goes to the session that its dispatch opened, and nowhere else', async () => {
  const whole = services.messages;
  const fails = { ...whole, send: () => Promise.reject(new Error('killed')) };
  services = { ...services, messages: Object.assign(Object.create(whole), fails) };
  await expect(sent('Hi', operator, null, 'm-again')).rejects.toThrow('killed');
  services = { ...services, messages: whole };
  const sessions = (await store.sessions()).length;
  expect(await sent('Hi', operator, `session:${recipient.id}`, 'm-again')).toMatchObject({ code: 'id-reused' });
  expect(await sent('Hi', operator, null, 'm-again')).toMatchObject({ ok: true, opened: true, mode: 'discuss' });
  expect(await store.sessions()).toHaveLength(sessions);
});

describe('a store that fails', () => {
  /** The services with a store whose nth call fails. */
  const failing = (nth: number): { services: SocialServices; called: () => number } => {
    let calls = 0;
    const watched = <T extends object>(of: T): T =>
      new Proxy(of, {
        get: (target, name) => {
          const value = Reflect.get(target, name, target);
          if (typeof value !== 'function' || name === 'close') return value;
          return (...args: unknown[]) => {
            if (calls++ === nth) throw new StoreError('store-failed', 'cannot write: the disk is full');
            return value.apply(target, args);
          };
        },
      });
    const messages = watched(store.messages!);
    return { services: { ...services, store: watched(store), messages }, called: () => calls };
  };

  it.each([
    ['a person', () => operator, () => `session:${recipient.id}`, 'Who owns the deploy?'],
    ['a person to nobody', () => operator, () => null, 'Who owns the deploy?'],
    ['an agent', () => connectionOf('agent'), () => `session:${recipient.id}`, 'Who owns the deploy?'],
    ['a person whose message is refused', () => operator, () => `session:${recipient.id}`, 'Fix the login page.'],
  ])('at any of its calls ends a message of %s with a failure; sent again, it arrives once', async (...row) => {
    const [who, connection, to, payload] = row;
    const stages = new Set<string>();
    for (let nth = 0; ; nth += depth(4, 1)) {
      const id = `m-${who.replaceAll(' ', '-')}-${nth}`;
      const at = failing(nth);
      const send = (through: SocialServices) => sendSocialMessage(through, connection(), { id, to: to(), payload });
      const failed = await send(at.services);
      if (at.called() <= nth) break;
      expect(failed).toMatchObject({ ok: false, code: 'store-failed', reason: 'cannot write: the disk is full' });
      stages.add(failed.ok ? '' : failed.stage);
      const again = await send(services);
      expect(await send(services)).toMatchObject({ ok: again.ok, message: id });
      if (!again.ok) expect(again.code).toBe('mode-forbids');
      const found = (await store.messages!.inbox(again.to!)).filter((message) => message.id === id);
      expect(found).toHaveLength(again.ok ? 1 : 0);
    }
    expect(stages).toContain('dispatch');
    if (isDeep && !payload.startsWith('Fix')) expect(stages).toContain('persist');
  });
});

describe('a message with the same id', () => {
  it('that is sent many times in parallel opens one session, and has one receipt', async () => {
    const results = await Promise.all(
      Array.from({ length: 8 }, () => sent({ type: 'handoff' }, operator, null, 'm-many')),
    );
    expect(new Set(results.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(await store.sessions()).toHaveLength(3);
  });

  it('rings once', async () => {
    const to = `session:${recipient.id}`;
    const results = await Promise.all([1, 2, 3].map(() => sent('Who is here?', connectionOf('agent'), to, 'm-rung')));
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(await store.messages!.inbox(to)).toHaveLength(1);
  });

  it('whose session another process opens at the same time leaves no empty session', async () => {
    const { opener } = services;
    const before = (await store.sessions()).length;
    let asked = 0;
    const late = async (id: string) => {
      // The other process holds the lease first, and then has opened the session.
      if (asked++ === 0) throw new StoreError('session-busy', 'another process writes it');
      await (await open('unassigned', id)).detach();
      return open('unassigned', id);
    };
    services = { ...services, opener: { ...opener!, open: late } };
    const receipt = await sent('Hi', operator, null, 'm-late');
    expect(receipt).toMatchObject({ ok: true, opened: true, mode: 'discuss' });
    expect(await store.sessions()).toHaveLength(before + 1);
    expect(asked).toBe(2);
    // The lease that the late process took is free again.
    const session = await openSession({ root, agent: 'unassigned', store, specs, session: receipt.to!.slice(8) });
    expect(await session.attach()).toMatchObject({ ok: true });
    await session.detach();
  });

  it('is found after a hundred other messages with its id were refused', async () => {
    const first = await sent('Hi', operator, `session:${recipient.id}`, 'm-used');
    for (let at = 0; at < 101; at++)
      expect(await sent(`Other ${at}`, operator, null, 'm-used')).toMatchObject({ code: 'id-reused' });
    expect(await sent('Hi', operator, null, 'm-used')).toEqual(first);
    expect(await readSocialOutcome(store, store.messages!, 'm-used')).toMatchObject({ valid: true });
  });
});

it('the diagram of the pipeline is drawn from its stages', async () => {
  const { stale, missing } = await compareGeneratedFiles('machines', { 'social-pipeline.mmd': pipelineDiagram() });
  expect([...stale, ...missing]).toEqual([]);
});
