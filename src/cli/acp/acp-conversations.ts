import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AcpConversation, AcpConversations } from '../../adapters/acp/bridge.ts';
import { ensurePrivateDir } from '../../daemon/daemon-folder.ts';
import { readRecord, writeRecord } from '../../daemon/record-file.ts';
import { ensureStateDir } from '../../project/state-dir.ts';
import type { Io } from '../io.ts';
import { withStore } from '../open-store.ts';

/** A file of the state folder. It contains none of the conversation's text, which the inner agent stores. */
interface Kept extends AcpConversation {
  /** The program of the inner agent and its arguments: another agent cannot continue the conversation. */
  readonly command: readonly string[];
}

/** The conversations of one inner agent in a repository, each in a file named for its session. */
export function acpConversations(io: Io, root: string, command: readonly string[]): AcpConversations {
  const folder = join(ensureStateDir(root, io.env), 'acp');
  const mine = JSON.stringify(command);
  return {
    keep(conversation) {
      writeRecord(join(ensurePrivateDir(folder), `${conversation.session}.json`), { ...conversation, command });
    },
    async list() {
      const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
      const stored = new Map(
        files
          .map((name) => readRecord<Kept>(join(folder, name)))
          .filter((one) => one !== null && JSON.stringify(one.command) === mine)
          .map((one) => [one!.session, one!]),
      );
      if (stored.size === 0) return [];
      const sessions = await withStore(root, io.env, [], (store) => store.sessions());
      return sessions
        .filter(({ closed, erased, archived }) => !closed && !erased && !archived)
        .flatMap(({ sessionId: session, lastAt: updatedAt, name }) => {
          const one = stored.get(session);
          return one ? [{ session, inner: one.inner, cwd: one.cwd, updatedAt, name }] : [];
        });
    },
  };
}
