import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fieldsOf, parseJson } from '../../base/json.ts';
import type { Env } from '../../base/user-folders.ts';
import { type CodexOverride, toOverrideArguments } from './overrides.ts';

export interface ListedHook {
  /** The key under which Codex stores the hook's trust. */
  readonly key: string;
  readonly eventName: string;
  readonly command: string | null;
  /** The layer of configuration: `sessionFlags` (hooks given with `-c`), `user`, `project`, … */
  readonly source: string;
  readonly enabled: boolean;
  readonly currentHash: string;
  /** Only `trusted` and `managed` hooks run. */
  readonly trustStatus: 'managed' | 'untrusted' | 'trusted' | 'modified';
}

export interface CodexAnswer {
  /** The version of Codex, such as `0.169.0`; empty if it is unknown. */
  readonly version: string;
  readonly codexHome: string;
  readonly hooks: readonly ListedHook[];
  readonly problems: readonly string[];
}

interface CodexQuestion {
  /** The path or name of the Codex program. */
  readonly codex: string;
  readonly cwd: string;
  readonly env: Env;
  readonly overrides?: readonly CodexOverride[];
  /** Timeout in milliseconds. Default: 20000. */
  readonly waitMs?: number;
}

/**
 * Asks Codex, through its app server, which hooks it would run here and for the hash of each. Only Codex knows how it
 * computes the hashes.
 * @throws Error if the program does not start, or does not list its hooks: it is too old, or its configuration is
 *   broken
 */
export function askCodex({ codex, cwd, env, overrides = [], waitMs = 20_000 }: CodexQuestion): Promise<CodexAnswer> {
  return new Promise((resolve, reject) => {
    const child = spawn(codex, [...toOverrideArguments(overrides), 'app-server'], {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stderr = '';
    let program = { version: '', codexHome: '' };
    const end = (finish: () => void) => {
      clearTimeout(timer);
      child.kill();
      finish();
    };
    const fail = (why: string) => end(() => reject(new Error(`${codex} does not report its hooks: ${why}`)));
    const timer = setTimeout(() => fail(`no answer in ${waitMs} ms`), waitMs);
    const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
    child.once('error', ({ message }) => fail(message));
    child.once('close', (code) => fail(`it ended with ${code}: ${stderr.trim().slice(-500) || 'it printed no error'}`));
    child.stdin.on('error', () => {});
    child.stderr.on('data', (chunk) => (stderr += chunk));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, result, error } = parseMessage(line);
      if (error) fail(JSON.stringify(error).slice(0, 500));
      else if (id === 1) {
        program = {
          version: /\/(\d+\.\d+\.\d+)/.exec(String(result?.['userAgent']))?.[1] ?? '',
          codexHome: String(result?.['codexHome']),
        };
        send({ method: 'initialized' });
        send({ id: 2, method: 'hooks/list', params: { cwds: [cwd] } });
      } else if (id === 2) {
        const [here] = (result?.['data'] ?? []) as { hooks: ListedHook[]; warnings: string[]; errors: unknown[] }[];
        if (here)
          end(() =>
            resolve({ ...program, hooks: here.hooks, problems: [...here.warnings, ...here.errors.map(wordsOf)] }),
          );
        else fail('its answer has no data');
      }
    });
    send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'hopgate', title: 'hopgate', version: '0' } } });
  });
}

/** An error of Codex in words: it reports `{path, message}`. */
const wordsOf = (error: unknown): string => {
  const { path, message } = fieldsOf(error);
  return [path, message ?? JSON.stringify(error)].filter((part) => part !== undefined).join(': ');
};

interface Message {
  readonly id?: number;
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: unknown;
}

const parseMessage = (line: string): Message => (parseJson(line) ?? {}) as Message;
