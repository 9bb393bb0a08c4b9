import type { Command } from 'commander';
import type { Io } from './io.ts';

type Load = () => Promise<{ readonly register: (command: Command, io: Io) => void }>;

/**
 * A command of the command line. Its module is loaded only if the command is used, because most of them are large. A
 * hidden one is called by programs only.
 */
const entry = (name: string, summary: string, load: Load, { hidden = false } = {}) => ({
  name,
  summary,
  load,
  hidden,
});

/** The commands, in the order of the help. */
export const COMMANDS = [
  entry('try', 'play a demo in a temporary folder', () => import('./commands/try.ts')),
  entry('run', 'run a scenario', () => import('./commands/run.ts')),
  entry('shell', 'act as the agent yourself', () => import('./commands/shell.ts')),
  entry('claude', 'start Claude Code in a session', () => import('./commands/clients/claude.ts')),
  entry('codex', 'start Codex in a session', () => import('./commands/clients/codex.ts')),
  entry('mcp', 'serve a session to an MCP client', () => import('./commands/clients/mcp.ts')),
  entry('acp', 'put an ACP agent into a session, for an editor', () => import('./commands/clients/acp.ts')),
  entry('install', 'add hopgate to the settings of a client program', () => import('./commands/clients/install.ts')),
  entry(
    'uninstall',
    'remove hopgate from the settings of a client program',
    () => import('./commands/clients/uninstall.ts'),
  ),
  entry('approve', 'answer the approval requests of agents', () => import('./commands/clients/approve.ts')),
  entry('grants', 'list and revoke the grants of the operator', () => import('./commands/clients/grants.ts')),
  entry('note', 'write to the agent of a session', () => import('./commands/clients/note.ts')),
  entry('hop', 'move a session to another peripheral as the operator', () => import('./commands/clients/hop.ts')),
  entry('send', "send a message, gated by the recipient's mode", () => import('./commands/messages/send.ts')),
  entry('bell', 'send a message to an agent or a person', () => import('./commands/messages/bell.ts')),
  entry('whistle', 'send a message and wait for its answer', () => import('./commands/messages/whistle.ts')),
  entry('inbox', 'read the messages of a person', () => import('./commands/messages/inbox.ts')),
  entry(
    'serve',
    'serve all sessions over HTTP, for programs and the live view',
    () => import('./commands/clients/serve.ts'),
  ),
  entry('world', 'serve a text household, in which an agent can practise', () => import('./commands/world.ts')),
  entry('agency', 'run agents once, here and on other machines', () => import('./commands/clients/agency.ts')),
  entry(
    'par-bell',
    'call several agents to one review, in one shared document',
    () => import('./commands/clients/par-bell.ts'),
  ),
  entry(
    'scorecard',
    'let an agent live in the household, and judge it by P-1 to P-6',
    () => import('./commands/scorecard.ts'),
  ),
  entry('upstream', 'use the tools of other MCP servers', () => import('./commands/clients/upstream.ts')),
  entry('init', 'write hopgate.yaml from the files of the repository', () => import('./commands/init.ts')),
  entry('trust', 'accept the current hopgate.yaml', () => import('./commands/trust.ts')),
  entry('check', 'check a spec set and hopgate.yaml', () => import('./commands/specs/check.ts')),
  entry('test', 'run the tests that a spec set generates', () => import('./commands/specs/test.ts')),
  entry('explain', 'ask whether the gate would allow a call', () => import('./commands/specs/explain.ts')),
  entry(
    'doctor',
    'check this machine: missing parts, and what works without them',
    () => import('./commands/doctor.ts'),
  ),
  entry('status', 'show where a session is, in one line', () => import('./commands/evidence/status.ts')),
  entry('sessions', 'list the sessions', () => import('./commands/evidence/sessions.ts')),
  entry('log', 'print the evidence of a session', () => import('./commands/evidence/log.ts')),
  entry(
    'activity',
    'list a session as activity events, or import a foreign log',
    () => import('./commands/evidence/activity.ts'),
  ),
  entry('erase', 'erase the content of a session, but not its chain', () => import('./commands/evidence/erase.ts')),
  entry('thread', 'show a session as a readable thread', () => import('./commands/evidence/thread.ts')),
  entry('watch', 'open the live view of a session', () => import('./commands/evidence/watch.ts')),
  entry('record', 'write a page that replays sessions', () => import('./commands/evidence/record.ts')),
  entry('par', 'add up the reviews of sessions', () => import('./commands/evidence/par.ts')),
  entry('verify', 'check that sessions obeyed their specs', () => import('./commands/evidence/verify.ts')),
  entry('seal', 'sign the evidence of a session', () => import('./commands/evidence/seal.ts')),
  entry('report', 'sum up what enforcement would have refused', () => import('./commands/evidence/report.ts')),
  entry('infer', 'propose the tightest specs for past sessions', () => import('./commands/evidence/infer.ts')),
  entry('replay', 'decide old sessions again under other specs', () => import('./commands/evidence/replay.ts')),
  entry('resume', 'settle an interrupted session', () => import('./commands/resume.ts')),
  entry('generate', 'write the machines of a spec set', () => import('./commands/specs/generate.ts')),
  entry('graph', 'print the hop graph', () => import('./commands/specs/graph.ts')),
  entry('inspect', "watch a session's machines", () => import('./commands/specs/inspect.ts')),
  entry('daemon', 'the process that answers hooks', () => import('./commands/clients/daemon.ts')),
  entry('completion', 'print a completion script for your shell', () => import('./commands/help/completion.ts')),
  entry('man', 'print the manual page', () => import('./commands/help/man.ts')),
  entry('complete', 'complete a command line', () => import('./commands/help/complete.ts'), { hidden: true }),
  entry('hook', 'answer one hook of a client program', () => import('./commands/clients/hook.ts'), {
    hidden: true,
  }),
] as const;
