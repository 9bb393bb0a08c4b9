import { createInterface, type Interface } from 'node:readline';
import { excerpt, toShellWord } from '../../base/text.ts';
import { openSession } from '../../open-session.ts';
import { openProject } from '../../project/open-project.ts';
import { ensureStateDir, evidenceFile } from '../../project/state-dir.ts';
import type { Session } from '../../session/session.ts';
import { checkApproveOption } from '../approve/approve-option.ts';
import { createWaitingApprover } from '../approve/wait-approval.ts';
import { findSessionIn } from '../choose-sessions.ts';
import type { CliCommand } from '../cli-command.ts';
import { showTerminalTitle } from '../client/terminal-title.ts';
import { type MachineWatch, startWatchIfOptionSet } from '../inspect/watch-machines.ts';
import { formatHeading, type Io, paint, print, printJsonLine } from '../io.ts';
import { printConfigWarnings } from '../print-config-warnings.ts';
import { createOperatorApprover } from '../run/operator-approver.ts';
import { type SessionOptions, withSessionOptions } from '../run/session-options.ts';
import type { CallWithProgress } from '../run/watch-call.ts';
import { parseAgentOption, resolveRootOption, rootOption } from '../shared-options.ts';
import { completeLine } from '../shell/complete-line.ts';
import { runLine } from '../shell/run-line.ts';

interface Options extends SessionOptions {
  readonly root: string;
  readonly agent: string;
  readonly session?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  withSessionOptions(
    command
      .description(
        'Opens a session and a prompt that shows mode and peripheral. Type a tool with its arguments, or hop, mode, start, stop, status, why, log, inbox, help; Tab completes. Without a terminal, the lines are read from stdin.',
      )
      .addOption(rootOption())
      .option('--agent <id>', "the agent's id", parseAgentOption, 'shell')
      .option('--session <id>', 'continue this session'),
  )
    .examples(
      'hopgate shell',
      'hopgate shell --root ../other --yes',
      "printf 'mode diagnose\\nstart explore\\nglob **/*.md\\n' | hopgate shell --json",
    )
    .action((options: Options) => shell(io, options));
}

/** Opens the session that the options name, new or resumed, on a repository's own evidence. */
export async function openShellSession(
  io: Io,
  options: Options,
  confirm?: (question: string) => Promise<boolean>,
  watch?: MachineWatch | null,
): Promise<Session> {
  const root = resolveRootOption(io, options);
  const project = await openProject(root, io.env);
  printConfigWarnings(io, project);
  ensureStateDir(root, io.env);
  const resumed = options.session === undefined ? null : await findSessionIn(io, root, options.session);
  if (resumed === null) checkApproveOption(options.approve ?? [], project.specs);
  const session = await openSession({
    root,
    agent: resumed?.agent ?? options.agent,
    specs: project.specs,
    config: project.config,
    store: evidenceFile(root, io.env),
    observe: options.observe ?? false,
    unsafeNoSandbox: options.unsafeNoSandbox ?? false,
    approver: createOperatorApprover(io, {
      yes: options.yes ?? false,
      approve: options.approve ?? [],
      root,
      fallback: createWaitingApprover(io, root, options.waitApproval),
      confirm,
    }),
    inspector: watch?.inspector,
    session: resumed?.sessionId,
  });
  try {
    checkApproveOption(options.approve ?? [], session.specs);
    return session;
  } catch (error) {
    await session.detach();
    throw error;
  }
}

async function shell(io: Io, options: Options): Promise<void> {
  let opened: Session | null = null;
  const reader = createInterface({
    input: io.stdin,
    ...(io.isTty
      ? {
          output: io.stdout,
          completer: (line: string) =>
            opened ? completeLine(opened, line, resolveRootOption(io, options)) : [[], line],
        }
      : {}),
    terminal: io.isTty,
    historySize: 500,
  });
  const lines = reader[Symbol.asyncIterator]();
  let running: string | null = null;
  let call: CallWithProgress | null = null;
  let leaving = false;
  let closed = false;
  reader.once('close', () => {
    closed = true;
  });
  reader.on('SIGINT', () => {
    if (call?.cancel()) return;
    leaving = true;
    if (running !== null)
      print(
        io,
        `\n${running} is still running; the shell ends when its outcome is recorded. A second Ctrl-C ends it at once, and the\ncall is recorded as interrupted when you continue: hopgate shell --session ${opened?.id}`,
      );
    reader.close();
  });
  const confirm = (question: string) =>
    new Promise<boolean>((resolve) => {
      reader.once('close', () => resolve(false));
      reader.question(`${question} [y/N] `, (answer) => resolve(/^y(es)?$/i.test(answer.trim())));
    });
  const watch = await startWatchIfOptionSet(io, options.inspect);
  const session = await openShellSession(io, options, confirm, watch);
  opened = session;
  const root = resolveRootOption(io, options);
  const continueCommand = `hopgate shell --session ${session.id} --root ${toShellWord(root)}`;
  const hideTitle = io.json ? () => {} : showTerminalTitle(io, root, session.id);
  try {
    if (io.json) printJsonLine(io, { type: 'open', session: session.id, root });
    else
      print(
        io,
        `${formatHeading(io, 'hopgate shell')}  session ${session.id}\n${paint(io, 'dim', 'type help for the commands; Ctrl-D leaves (you can continue the session later)')}`,
      );
    if (!closed) prompt(io, reader, session);
    for await (const line of lines) {
      if (leaving) break; // Lines that were typed before Ctrl-C are dropped.
      running = excerpt(line.trim(), 60);
      const ended = await runLine(io, session, line, (next) => {
        call = next;
      });
      running = null;
      if (ended || leaving) break;
      if (!closed) prompt(io, reader, session);
    }
  } finally {
    hideTitle();
    reader.close();
    await session.detach();
    await watch?.close();
    if (!io.json && !session.state.closed) print(io, paint(io, 'dim', `Continue with: ${continueCommand}`));
  }
}

function prompt(io: Io, reader: Interface, session: Session): void {
  if (!io.isTty) return;
  const { mode, peripheral } = session.state;
  reader.setPrompt(`${paint(io, 'cyan', mode ?? 'no gate')} ${paint(io, 'bold', peripheral ?? '(outside)')} › `);
  reader.prompt();
}
