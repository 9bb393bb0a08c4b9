import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ClientConversation } from '../../src/adapters/core/hook-context.ts';
import type { CallingProcess, SessionHostOptions } from '../../src/daemon/conversations/session-host-options.ts';
import { SessionHost } from '../../src/daemon/session-host.ts';
import { putCompiledClient } from '../compiled-client.ts';

/** A repository and a state folder of its own; everything opened on it is closed and removed after the test. */
export interface World {
  readonly root: string;
  readonly env: { readonly [name: string]: string };
  conversation(id?: string, agentId?: string | null): ClientConversation;
  host(options?: Partial<SessionHostOptions>): SessionHost;
  /** A caller without a process of its own. */
  readonly nobody: CallingProcess;
  later(undo: () => unknown): void;
}

const undone: (() => unknown)[] = [];
const before = process.env['XDG_STATE_HOME'];

async function undoAll() {
  for (const undo of undone.splice(0).reverse()) await undo();
  if (before === undefined) delete process.env['XDG_STATE_HOME'];
  else process.env['XDG_STATE_HOME'] = before;
}

export function makeWorld(files: { readonly [path: string]: string } = {}): World {
  // An afterEach of this module would count for the first test file of a worker only.
  if (undone.length === 0) onTestFinished(undoAll);
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-daemon-')));
  undone.push(() => rmSync(base, { recursive: true, force: true, maxRetries: 5 }));
  const root = join(base, 'repo');
  for (const [name, text] of Object.entries({ 'src/a.ts': 'one\n', ...files })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(base, 'home'),
    XDG_STATE_HOME: join(base, 'state'),
    // A daemon that a hook started, and that no test ends, ends by itself.
    HOPGATE_DAEMON_IDLE_MINUTES: '0.3',
    // Otherwise each world would compile everything again.
    NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/hopgate-daemon-tests'),
  };
  mkdirSync(env.HOME);
  putCompiledClient(env.XDG_STATE_HOME);
  symlinkSync(env.NODE_COMPILE_CACHE, join(env.XDG_STATE_HOME, 'hopgate/compile-cache'));
  // openSession looks for trust where the process keeps its state.
  process.env['XDG_STATE_HOME'] = env.XDG_STATE_HOME;
  return {
    root,
    env,
    conversation: (id = 'c1', agentId = null) => ({ client: 'claude-code', id, agentId, root }),
    host(options = {}) {
      const host = new SessionHost({ env, keepOpenMs: 0, ...options });
      undone.push(() => host.close());
      return host;
    },
    nobody: { env: {}, pid: null },
    later: (undo) => void undone.push(undo),
  };
}
