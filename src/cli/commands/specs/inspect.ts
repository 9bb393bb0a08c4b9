import { escapeInvisible } from '../../../base/text.ts';
import { resumeSession } from '../../../session/create-session.ts';
import { noSessionsError, withExistingSessions } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { INSPECTOR_PORT, keepInspectorBridgeOpen, startMachineWatch } from '../../inspect/watch-machines.ts';
import { type Io, printResult } from '../../io.ts';
import { findSession } from '../../open-store.ts';
import { type RootOption, resolveRootOption, rootOption, wholeNumberParser } from '../../shared-options.ts';

interface Options extends RootOption {
  readonly port: number;
  readonly url?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      "Shows a session's machines (mode gate, hop graph, visits) in the Stately inspector, from the first event to the last. A local bridge serves the page and the messages until Ctrl-C; with --url, the messages go to an existing receiver. Shows machine events and their facts, never arguments or results of a step. The page itself comes from stately.ai.",
    )
    .argument('[session]', 'the id of the session, or its first characters (default: the latest session)')
    .option('--port <number>', 'the port of the bridge; 0: any free one', wholeNumberParser(65_535), INSPECTOR_PORT)
    .option('--url <address>', 'send to a receiver at this WebSocket address instead')
    .addOption(rootOption())
    .examples('hopgate inspect', 'hopgate inspect s-4f1c --port 0', 'hopgate inspect --url ws://127.0.0.1:8080')
    .action((session: string | undefined, options: Options) => inspect(io, session, options));
}

async function inspect(io: Io, id: string | undefined, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  await withExistingSessions(io, root, async (store) => {
    const sessions = await store.sessions();
    const session = id === undefined ? sessions[0] : findSession(sessions, id);
    if (session === undefined) throw noSessionsError(io, root);
    const watch = await startMachineWatch(io, options);
    try {
      // Computes the state from the evidence, as for a resumed session; nothing is written, and no tool is available.
      await resumeSession(
        {
          store,
          clock: { now: () => Date.now() },
          ids: { next: (kind) => kind },
          backends: [],
          approver: null,
          inspector: watch.inspector,
        },
        session.sessionId,
      );
      const { address, socket } = watch;
      const at = address === null ? `shown to ${socket}` : `${address}  (messages: ${socket})`;
      const output = { session: session.sessionId, address, socket };
      printResult(io, output, `session ${escapeInvisible(session.sessionId)}\n${at}`);
      await keepInspectorBridgeOpen(io, watch);
    } finally {
      await watch.close();
    }
  });
}
