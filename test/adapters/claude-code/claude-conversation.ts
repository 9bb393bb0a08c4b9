import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { handleClaudeEvent } from '../../../src/adapters/claude-code/handle-claude-event.ts';
import { ALLOW_REPLY_PREFIX } from '../../../src/adapters/claude-code/hook-reply.ts';
import type { ConversationRecord, HookAnswer } from '../../../src/adapters/core/hook-context.ts';
import { SessionHost } from '../../../src/daemon/session-host.ts';
import { toBody } from '../../../src/evidence/bodies.ts';
import type { Session } from '../../../src/session/session.ts';
import type { Json } from '../../../src/spec/types.ts';
import { builtOnce } from '../../built-once.ts';
import { nameServer } from '../../server-name.ts';

type Fields = { readonly [name: string]: unknown };

/** A hook's answer, parsed as the client parses it. */
export interface HookReply {
  readonly answer: HookAnswer;
  /** The decision on the call: exit code 2 blocks it, and so does a denying answer; an allowing answer permits it. */
  readonly verdict: 'blocked' | 'allowed' | 'silent';
  /** The decision that replaces Claude Code's own; null if Claude Code decides. */
  readonly decision: 'allow' | 'ask' | null;
  readonly reason: string;
  readonly context: string;
  readonly input: Fields | null;
  readonly notice: string | null;
  readonly goOn: string | null;
}

const copyEmptyRepository = builtOnce((root) => {
  execFileSync('git', ['init', '-q', '-b', 'main', '--template=', root]);
});

/** A repository, a state folder, and one conversation of Claude Code, hook by hook. */
export class World {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-claude-')));
  readonly root = join(this.folder, 'repo');
  readonly env: { readonly [name: string]: string };
  readonly host: SessionHost;
  #uses = 0;

  constructor(files: { readonly [path: string]: string } = { 'src/a.js': 'one\n', 'README.md': 'read me\n' }) {
    copyEmptyRepository(this.root);
    for (const [path, text] of Object.entries(files)) this.write(path, text);
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      XDG_STATE_HOME: join(this.folder, 'state'),
      CLAUDE_PROJECT_DIR: this.root,
    };
    nameServer(join(this.folder, 'state'));
    this.host = new SessionHost({ env: this.env, keepOpenMs: 60_000, runCommand: '/opt/hopgate-run' });
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** Gives an event to the hook, with the fields that every event has. */
  async sendEvent(name: string, fields: Fields = {}): Promise<HookReply> {
    const event = { session_id: 'conversation', cwd: this.root, hook_event_name: name, ...fields };
    const answer = await handleClaudeEvent(event, this.host.hookContext({ env: this.env, pid: null }), this.env);
    await answer.onDelivered?.();
    return readAnswer(answer);
  }

  /** PreToolUse of a new call; its id is in the answer. */
  async call(tool: string, input: Fields, fields: Fields = {}): Promise<HookReply & { readonly id: string }> {
    const id = `toolu_${++this.#uses}`;
    return {
      id,
      ...(await this.sendEvent('PreToolUse', { tool_name: tool, tool_input: input, tool_use_id: id, ...fields })),
    };
  }

  /** PostToolUse of a call. */
  done(id: string, tool: string, response: unknown, fields: Fields = {}): Promise<HookReply> {
    return this.sendEvent('PostToolUse', { tool_name: tool, tool_use_id: id, tool_response: response, ...fields });
  }

  record(agentId: string | null = null): Promise<ConversationRecord> {
    return this.host
      .hookContext({ env: this.env, pid: null })
      .conversation({ client: 'claude-code', id: 'conversation', agentId, root: this.root });
  }

  async session<T>(work: (session: Session) => Promise<T>, agentId: string | null = null): Promise<T> {
    const record = await this.record(agentId);
    return this.host.sessions.use(this.root, record.sessionId, 'the test', work);
  }

  /** The events of the evidence, each with its distinguishing field. */
  evidence(agentId: string | null = null): Promise<readonly string[]> {
    return this.session(async (session) => (await session.evidence()).map(({ body }) => inShort(body)), agentId);
  }

  /** Moves the session to a peripheral and a mode, as the operator. */
  async lead(peripheral: 'explore' | 'edit', mode: 'discuss' | 'diagnose' | 'execute'): Promise<void> {
    await this.session(async (session) => {
      if (mode !== 'discuss') await must(session.setMode({ to: 'diagnose' }));
      if (mode === 'execute')
        await must(
          session.setMode(
            { to: 'execute', reason: 'it is known', exitCriteria: 'it works' },
            { approver: { via: 'approver', approve: async () => ({ by: 'operator' }) } },
          ),
        );
      if (peripheral === 'edit') await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'found it' }));
    });
  }

  async close(): Promise<void> {
    await this.host.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function must(result: Promise<{ readonly ok: boolean }>): Promise<void> {
  const settled = await result;
  if (!settled.ok) throw new Error(JSON.stringify(settled));
}

function inShort(body: Json): string {
  const event = toBody(body);
  if (!event) return '?';
  if (event.event === 'denial') return `denial ${event.code}`;
  if (event.event === 'intent' || event.event === 'interrupted') return `${event.event} ${event.tool}`;
  if (event.event === 'step' || event.event === 'outcome') {
    const effects =
      event.effects === 'unobserved' ? ['unobserved'] : event.effects.map(({ op, path }) => `${op} ${path}`);
    return [`${event.event} ${event.tool} ${event.outcome.status}`, ...effects].join(', ');
  }
  return event.event;
}

/**
 * Reads an answer as the client does: exit 2 refuses with standard error, JSON on exit 0 is obeyed, and no output
 * allows.
 */
export function readAnswer(answer: HookAnswer): HookReply {
  const output = answer.exit === 0 && answer.stdout !== '' ? JSON.parse(answer.stdout) : {};
  const specific = output.hookSpecificOutput ?? {};
  return {
    answer,
    verdict: answer.exit === 2 ? 'blocked' : answer.stdout.startsWith(ALLOW_REPLY_PREFIX) ? 'allowed' : 'silent',
    decision: specific.permissionDecision ?? null,
    reason: answer.stderr,
    context: specific.additionalContext ?? '',
    input: specific.updatedInput ?? null,
    notice: output.systemMessage ?? null,
    goOn: output.decision === 'block' ? output.reason : null,
  };
}
