import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AcpConversation, AcpConversations } from '../../adapters/acp/bridge.ts';
import { ensurePrivateDir } from '../../daemon/daemon-folder.ts';
import { readPrivateJson, writePrivateJson } from '../../daemon/private-json-file.ts';
import { ensureStateDir } from '../../project/state-dir.ts';
import type { Io } from '../io.ts';
import { withEvidence } from '../open-store.ts';

/** A conversation's file in the state folder. The ACP agent itself stores the text of the conversation. */
interface ConversationFile extends AcpConversation {
  /** The program of the ACP agent and its arguments: another agent cannot continue the conversation. */
  readonly command: readonly string[];
}

/** The conversations of one ACP agent in a repository, each in a file named after its session. */
export function createAcpConversations(io: Io, root: string, command: readonly string[]): AcpConversations {
  const folder = join(ensureStateDir(root, io.env), 'acp');
  const ownCommand = JSON.stringify(command);
  return {
    keep(conversation) {
      writePrivateJson(join(ensurePrivateDir(folder), `${conversation.session}.json`), { ...conversation, command });
    },
    async list() {
      const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
      const stored = new Map(
        files
          .map((name) => readPrivateJson<ConversationFile>(join(folder, name)))
          .filter((stored) => stored !== null && JSON.stringify(stored.command) === ownCommand)
          .map((stored) => [stored!.session, stored!]),
      );
      if (stored.size === 0) return [];
      const sessions = await withEvidence(root, io.env, [], (store) => store.sessions());
      return sessions
        .filter(({ closed, erased, archived }) => !closed && !erased && !archived)
        .flatMap(({ sessionId: session, lastAt: updatedAt, name }) => {
          const conversation = stored.get(session);
          if (!conversation) return [];
          const { inner, cwd } = conversation;
          return [{ session, inner, cwd, updatedAt, name }];
        });
    },
  };
}
