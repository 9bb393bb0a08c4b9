import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { handleCodexEvent } from '../../../src/adapters/codex/handle-codex-event.ts';
import type {
  ClientConversation,
  ConversationRecord,
  HookAnswer,
  HookContext,
} from '../../../src/adapters/core/hook-context.ts';
import type { RecordedTranscriptItem } from '../../../src/adapters/core/transcript/transcript-items.ts';
import type { NativeCallWatcher, ToolBackend } from '../../../src/ports/tool-backend.ts';
import type { Session } from '../../../src/session/session.ts';
import type { Json } from '../../../src/spec/types.ts';
import { scriptedBackend } from '../../../src/testing/doubles/scripted-backend.ts';
import { SERVER } from '../../server-name.ts';
import { must, type StageOptions, stage } from '../../session/sessions.ts';

const digest = (root: string, path: string): string | undefined => {
  try {
    return createHash('sha256')
      .update(readFileSync(join(root, path)))
      .digest('hex');
  } catch {
    return undefined;
  }
};

/** Reports the state of the file that a call names. */
const watching: NativeCallWatcher = {
  before: async ({ args, envelope }) => ({ before: digest(envelope.root, String(args['path'])) ?? null }),
  after: async ({ args, envelope }, before) => {
    const path = String(args['path']);
    const after = digest(envelope.root, path);
    if (after === before || after === undefined) return [];
    const finding = path.includes('.test.') ? { finding: 'it is a test' } : {};
    return [{ path, op: before === null ? 'create' : 'modify', after, ...finding }];
  },
};

export interface World {
  readonly root: string;
  readonly session: Session;
  readonly host: HookContext;
  /** The records of the transcripts, in order. */
  readonly transcript: (RecordedTranscriptItem & { readonly agent: string })[];
  /** The records, by agent; `main` for the main agent. */
  readonly records: ReadonlyMap<string, ConversationRecord>;
  /** Sends one event, with the fields that every event has. */
  send(
    event: { readonly hook_event_name: string; readonly [field: string]: unknown },
    env?: { [name: string]: string },
  ): Promise<HookAnswer>;
  /** Answers PreToolUse. */
  call(
    tool: string,
    input: object,
    more?: { readonly [field: string]: unknown },
    env?: { [name: string]: string },
  ): Promise<HookAnswer>;
}

/** A session, and a host that keeps its records in memory; sub-agents get a session of the same spec set. */
export async function world(options: StageOptions = {}): Promise<World> {
  const backend: ToolBackend = {
    ...scriptedBackend({ read: { text: 'a' }, edit: {}, write: {}, bash: { exit: 0 }, 'bash-readonly': { exit: 0 } }),
    native: watching,
  };
  const { session, root } = await stage({ backends: [backend], ...options });
  const records = new Map<string, ConversationRecord>();
  const sessions = new Map([['main', session]]);
  const kept = new Map<string, Json>();
  const transcript: World['transcript'] = [];
  const nameOf = ({ agentId }: ClientConversation) => agentId ?? 'main';
  const sessionOf = (record: ConversationRecord) => sessions.get(nameOf(record.conversation)) as Session;
  const host: HookContext = {
    server: SERVER,
    async conversation(conversation) {
      const name = nameOf(conversation);
      if (!sessions.has(name)) {
        const other = await stage({ backends: [backend], agent: name });
        await must(other.session.start('explore'));
        sessions.set(name, other.session);
      }
      const parent = conversation.agentId === null ? null : session.id;
      const record = records.get(name) ?? {
        conversation,
        sessionId: sessions.get(name)?.id ?? '',
        parent,
        events: [],
        notes: {},
      };
      records.set(name, record);
      return record;
    },
    async recordEvent(record, event, notes) {
      const now = records.get(nameOf(record.conversation)) ?? record;
      const next = { ...now, events: [...now.events, event], notes: notes ?? now.notes };
      records.set(nameOf(record.conversation), next);
      return next;
    },
    withSession: async (record, work) => work(sessionOf(record)),
    denialByParent: async (record, call) => (record.parent === null ? null : session.why(call)),
    storeForCall: async (record, key, value) => void kept.set(`${nameOf(record.conversation)} ${key}`, value),
    async takeForCall(record, key) {
      const name = `${nameOf(record.conversation)} ${key}`;
      const value = kept.get(name) ?? null;
      kept.delete(name);
      return value;
    },
    isApproved: () => false,
    instructionProblem: async () => null,
    commandFor: async () => {
      throw new Error('Codex has no runner');
    },
    recordTranscript: (record, ...items) =>
      void transcript.push(...items.map((item) => ({ agent: nameOf(record.conversation), ...item }))),
    revokeCommand: async () => false,
    skillProblem: async () => 'is unknown to Codex',
    expectSubAgentCall: () => {},
  };
  const send: World['send'] = async (event, env = {}) => {
    const { onDelivered: given, ...answer } = await handleCodexEvent(
      { session_id: 'thread-1', turn_id: 'turn-1', cwd: root, model: 'm', permission_mode: 'default', ...event },
      host,
      env,
    );
    await given?.();
    return answer;
  };
  let calls = 0;
  return {
    root,
    session,
    host,
    records,
    transcript: transcript,
    send,
    call: (tool_name, tool_input, more = {}, env = {}) =>
      send({ hook_event_name: 'PreToolUse', tool_name, tool_input, tool_use_id: `call-${calls++}`, ...more }, env),
  };
}

export const patchOf = (...lines: string[]) => ({ command: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });

/** Moves a session of the built-in specs to edit, in execute. */
export async function toEdit(session: Session): Promise<void> {
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.start('explore'));
  await must(session.step({ tool: 'read', args: { path: 'src/a.ts' } }));
  await must(session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'found' }));
  await must(session.setMode({ to: 'execute', reason: 'go' }));
}
