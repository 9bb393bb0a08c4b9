import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { CallRunByHopgate, ClientConversation } from '../../adapters/core/hook-context.ts';
import { userStateFolder } from '../../base/user-folders.ts';
import { ensurePrivateDir } from '../daemon-folder.ts';
import { takePrivateJson, writePrivateJson } from '../private-json-file.ts';
import type { SessionHostOptions } from './session-host-options.ts';

/** An allowed call that a command line runs later, once. */
interface StoredRun {
  readonly conversation: ClientConversation;
  readonly call: CallRunByHopgate;
}

/** Allowed calls, stored in files under tickets. Each ticket is valid once. */
export class RunTickets {
  readonly #options: Pick<SessionHostOptions, 'env' | 'runCommand'>;

  constructor(options: Pick<SessionHostOptions, 'env' | 'runCommand'>) {
    this.#options = options;
  }

  /** Stores a call and returns the command line that runs it. */
  commandFor(run: StoredRun): string {
    const ticket = randomBytes(16).toString('hex');
    writePrivateJson(this.#file(ticket), run);
    return `${this.#options.runCommand ?? 'hopgate hook run'} ${ticket}`;
  }

  /** Cancels the call of a command line; false if it was taken before. */
  revoke(command: string): boolean {
    return this.take(/[0-9a-f]{32}/.exec(command)?.[0] ?? '') !== null;
  }

  /** Takes a call by its ticket; null if there is none, or it was taken before. */
  take(ticket: string): StoredRun | null {
    return /^[0-9a-f]{32}$/.test(ticket) ? takePrivateJson(this.#file(ticket)) : null;
  }

  #file(ticket: string): string {
    return join(ensurePrivateDir(join(userStateFolder(this.#options.env), 'runs')), `${ticket}.json`);
  }
}
