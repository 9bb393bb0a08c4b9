import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { type Env, userStateFolder } from '../../base/user-folders.ts';
import { ensurePrivateDir } from '../../daemon/daemon-folder.ts';
import { ensureTokenFile } from '../../operator/operator-token.ts';

/** The roles that have a token in a file. A session's agent has a token of its own, which the server issues. */
export const ROLES_WITH_TOKEN_FILE = ['operator', 'auditor', 'agent'] as const;
type FileRole = (typeof ROLES_WITH_TOKEN_FILE)[number];

/** The roles that may read a session. The agent of a session may read only this session. */
export const ROLES_THAT_READ_SESSION = ['operator', 'auditor', 'session'] as const;
export const ROLES_THAT_READ_ALL = ['operator', 'auditor'] as const;

/**
 * The sender of a request. An `agent` is a program that may open sessions and run agents. A `session` is the agent of
 * one session, which reaches that session, and agents without tools. A `node` is another node of the agency.
 */
export type Requester =
  | { readonly role: FileRole }
  | { readonly role: 'session'; readonly session: string }
  | { readonly role: 'node'; readonly node: string };
export type TokenRole = Requester['role'];

const DERIVED_TOKEN = /^hopgate-(session|node)-([A-Za-z0-9_-]{1,400})\.([0-9a-f]{64})$/;

/** The folder of the server's tokens. It is in the state home, which no sandbox mounts. */
export const tokenFolder = (env: Env): string => join(userStateFolder(env), 'server');

export const roleTokenFile = (env: Env, role: FileRole): string => join(tokenFolder(env), `${role}.token`);

/** Bearer tokens: one for each role in a file (0600); one for each session and node, derived from the operator's. */
export class Tokens {
  readonly #tokens: ReadonlyMap<FileRole, string>;

  /** @throws TokenError if a token's file is not safe */
  constructor(env: Env) {
    ensurePrivateDir(tokenFolder(env));
    this.#tokens = new Map(
      ROLES_WITH_TOKEN_FILE.map((role) => [role, ensureTokenFile(roleTokenFile(env, role), role)]),
    );
  }

  /** The token of a session's agent. The same session always has the same token. */
  ofSession(sessionId: string): string {
    return this.#derived('session', sessionId);
  }

  /** The token of another node of the agency, by the name that the registry gives it. */
  ofNode(name: string): string {
    return this.#derived('node', name);
  }

  /** The holder of a token; null if it is not a token of this server. */
  holder(token: string): Requester | null {
    const [, kind, encoded = '', mac = ''] = DERIVED_TOKEN.exec(token) ?? [];
    if (kind === 'session' || kind === 'node') {
      const name = Buffer.from(encoded, 'base64url').toString();
      if (!areSecretsEqual(mac, this.#mac(kind, name))) return null;
      return kind === 'session' ? { role: kind, session: name } : { role: kind, node: name };
    }
    // Every token is compared, so that the time does not depend on the role.
    const found = [...this.#tokens].filter(([, own]) => areSecretsEqual(token, own));
    return found[0] ? { role: found[0][0] } : null;
  }

  #derived(kind: 'session' | 'node', name: string): string {
    return `hopgate-${kind}-${Buffer.from(name).toString('base64url')}.${this.#mac(kind, name)}`;
  }

  #mac(kind: 'session' | 'node', name: string): string {
    return createHmac('sha256', this.#tokens.get('operator')!).update(`hopgate ${kind}\n${name}`).digest('hex');
  }
}

/** The id of this user's node of the agency. It is not secret. */
export function nodeIdOfUser(env: Env): string {
  ensurePrivateDir(tokenFolder(env));
  return hash('sha256', ensureTokenFile(roleTokenFile(env, 'auditor'), 'auditor')).slice(0, 16);
}

/** Compares secrets in constant time. */
export function areSecretsEqual(actual: string, expected: string): boolean {
  const [a, b] = [Buffer.from(actual), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
