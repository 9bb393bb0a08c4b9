import type { Command } from 'commander';
import type { Io } from './io.ts';

type Load = () => Promise<{ readonly register: (command: Command, io: Io) => void }>;

/**
 * A command of the command line. Its module is loaded only if the command is used, because most of them are large. A
 * hidden command is called only by programs.
 */
const commandEntry = (name: string, summary: string, load: Load, { hidden = false } = {}) => ({
  name,
  summary,
  load,
  hidden,
});

/** The commands, in the order of the help. */
export const COMMANDS = [
  commandEntry('try', 'play a demo in a temporary folder', () => import('./commands/try.ts')),
  commandEntry('run', 'run a scenario', () => import('./commands/run.ts')),
  commandEntry('shell', 'act as the agent yourself', () => import('./commands/shell.ts')),
  commandEntry('claude', 'start Claude Code in a session', () => import('./commands/clients/claude.ts')),
  commandEntry('codex', 'start Codex in a session', () => import('./commands/clients/codex.ts')),
  commandEntry('mcp', 'serve a session to an MCP client', () => import('./commands/clients/mcp.ts')),
  commandEntry('acp', 'put an ACP agent into a session, for an editor', () => import('./commands/clients/acp.ts')),
  commandEntry(
    'install',
    'add hopgate to the settings of a client program',
    () => import('./commands/clients/install.ts'),
  ),
  commandEntry(
    'uninstall',
    'remove hopgate from the settings of a client program',
    () => import('./commands/clients/uninstall.ts'),
  ),
  commandEntry('approve', 'answer the approval requests of agents', () => import('./commands/clients/approve.ts')),
  commandEntry('grants', 'list and revoke the grants of the operator', () => import('./commands/clients/grants.ts')),
  commandEntry('note', 'write to the agent of a session', () => import('./commands/clients/note.ts')),
  commandEntry(
    'hop',
    'move a session to another peripheral as the operator',
    () => import('./commands/clients/hop.ts'),
  ),
  commandEntry('send', "send a message, gated by the recipient's mode", () => import('./commands/messages/send.ts')),
  commandEntry('bell', 'send a message to an agent or a person', () => import('./commands/messages/bell.ts')),
  commandEntry('whistle', 'send a message and wait for its answer', () => import('./commands/messages/whistle.ts')),
  commandEntry('inbox', 'read the messages of a person', () => import('./commands/messages/inbox.ts')),
  commandEntry(
    'serve',
    'serve all sessions over HTTP, for programs and the live view',
    () => import('./commands/clients/serve.ts'),
  ),
  commandEntry('world', 'serve a text household, in which an agent can practise', () => import('./commands/world.ts')),
  commandEntry('agency', 'run agents once, here and on other machines', () => import('./commands/clients/agency.ts')),
  commandEntry(
    'par-bell',
    'call several agents to one review, in one shared document',
    () => import('./commands/clients/par-bell.ts'),
  ),
  commandEntry(
    'scorecard',
    'run an agent in the household, and judge it by P-1 to P-6',
    () => import('./commands/scorecard.ts'),
  ),
  commandEntry('upstream', 'use the tools of other MCP servers', () => import('./commands/clients/upstream.ts')),
  commandEntry('init', 'write hopgate.yaml from the files of the repository', () => import('./commands/init.ts')),
  commandEntry('trust', 'accept the current hopgate.yaml', () => import('./commands/trust.ts')),
  commandEntry('check', 'check a spec set and hopgate.yaml', () => import('./commands/specs/check.ts')),
  commandEntry('test', 'run the tests that a spec set generates', () => import('./commands/specs/test.ts')),
  commandEntry('explain', 'ask whether the gate would allow a call', () => import('./commands/specs/explain.ts')),
  commandEntry(
    'doctor',
    'check this machine: missing parts, and what works without them',
    () => import('./commands/doctor.ts'),
  ),
  commandEntry('status', 'show where a session is, in one line', () => import('./commands/evidence/status.ts')),
  commandEntry('sessions', 'list the sessions', () => import('./commands/evidence/sessions.ts')),
  commandEntry('log', 'print the evidence of a session', () => import('./commands/evidence/log.ts')),
  commandEntry(
    'activity',
    'list a session as activity events, or import a foreign log',
    () => import('./commands/evidence/activity.ts'),
  ),
  commandEntry(
    'erase',
    'erase the content of a session, but not its chain',
    () => import('./commands/evidence/erase.ts'),
  ),
  commandEntry('thread', 'show a session as a readable thread', () => import('./commands/evidence/thread.ts')),
  commandEntry('watch', 'open the live view of a session', () => import('./commands/evidence/watch.ts')),
  commandEntry('record', 'write a page that replays sessions', () => import('./commands/evidence/record.ts')),
  commandEntry('par', 'add up the reviews of sessions', () => import('./commands/evidence/par.ts')),
  commandEntry('verify', 'check that sessions obeyed their specs', () => import('./commands/evidence/verify.ts')),
  commandEntry('seal', 'sign the evidence of a session', () => import('./commands/evidence/seal.ts')),
  commandEntry('report', 'sum up what enforcement would have refused', () => import('./commands/evidence/report.ts')),
  commandEntry('infer', 'propose the tightest specs for past sessions', () => import('./commands/evidence/infer.ts')),
  commandEntry('replay', 'decide old sessions again under other specs', () => import('./commands/evidence/replay.ts')),
  commandEntry('resume', 'settle an interrupted session', () => import('./commands/resume.ts')),
  commandEntry('generate', 'write the machines of a spec set', () => import('./commands/specs/generate.ts')),
  commandEntry('graph', 'print the hop graph', () => import('./commands/specs/graph.ts')),
  commandEntry('inspect', "watch a session's machines", () => import('./commands/specs/inspect.ts')),
  commandEntry('daemon', 'the process that answers hooks', () => import('./commands/clients/daemon.ts')),
  commandEntry('completion', 'print a completion script for your shell', () => import('./commands/help/completion.ts')),
  commandEntry('man', 'print the manual page', () => import('./commands/help/man.ts')),
  commandEntry('complete', 'complete a command line', () => import('./commands/help/complete.ts'), { hidden: true }),
  commandEntry('hook', 'answer one hook of a client program', () => import('./commands/clients/hook.ts'), {
    hidden: true,
  }),
] as const;
