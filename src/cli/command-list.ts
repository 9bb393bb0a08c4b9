import type { Command } from 'commander';
import type { Io } from './io.ts';

type Load = () => Promise<{ readonly register: (command: Command, io: Io) => void }>;

/**
 * A command of the command line. Its module is loaded only if the command is used, because most of them are large. A
 * hidden one is called by programs only.
 */
const listed = (name: string, summary: string, load: Load, { hidden = false } = {}) => ({
  name,
  summary,
  load,
  hidden,
});

/** The commands, in the order of the help. */
export const COMMANDS = [
  listed('try', 'play a demo in a temporary folder', () => import('./commands/try.ts')),
  listed('run', 'run a scenario', () => import('./commands/run.ts')),
  listed('shell', 'act as the agent yourself', () => import('./commands/shell.ts')),
  listed('claude', 'start Claude Code in a session', () => import('./commands/clients/claude.ts')),
  listed('codex', 'start Codex in a session', () => import('./commands/clients/codex.ts')),
  listed('mcp', 'serve a session to an MCP client', () => import('./commands/clients/mcp.ts')),
  listed('acp', 'put an ACP agent into a session, for an editor', () => import('./commands/clients/acp.ts')),
  listed('install', 'add hopgate to the settings of a client program', () => import('./commands/clients/install.ts')),
  listed(
    'uninstall',
    'remove hopgate from the settings of a client program',
    () => import('./commands/clients/uninstall.ts'),
  ),
  listed('approve', 'answer the approval requests of agents', () => import('./commands/clients/approve.ts')),
  listed('grants', 'list and revoke the grants of the operator', () => import('./commands/clients/grants.ts')),
  listed('note', 'write to the agent of a session', () => import('./commands/clients/note.ts')),
  listed('hop', 'move a session to another peripheral as the operator', () => import('./commands/clients/hop.ts')),
  listed('send', "send a message, gated by the recipient's mode", () => import('./commands/messages/send.ts')),
  listed('bell', 'send a message to an agent or a person', () => import('./commands/messages/bell.ts')),
  listed('whistle', 'send a message and wait for its answer', () => import('./commands/messages/whistle.ts')),
  listed('inbox', 'read the messages of a person', () => import('./commands/messages/inbox.ts')),
  listed(
    'serve',
    'serve all sessions over HTTP, for programs and the live view',
    () => import('./commands/clients/serve.ts'),
  ),
  listed('world', 'serve a text household, in which an agent can practise', () => import('./commands/world.ts')),
  listed('agency', 'run agents once, here and on other machines', () => import('./commands/clients/agency.ts')),
  listed(
    'par-bell',
    'call several agents to one review, in one shared document',
    () => import('./commands/clients/par-bell.ts'),
  ),
  listed(
    'scorecard',
    'let an agent live in the household, and judge it by P-1 to P-6',
    () => import('./commands/scorecard.ts'),
  ),
  listed('upstream', 'use the tools of other MCP servers', () => import('./commands/clients/upstream.ts')),
  listed('init', 'write hopgate.yaml from the files of the repository', () => import('./commands/init.ts')),
  listed('trust', 'accept the current hopgate.yaml', () => import('./commands/trust.ts')),
  listed('check', 'check a spec set and hopgate.yaml', () => import('./commands/specs/check.ts')),
  listed('test', 'run the tests that a spec set generates', () => import('./commands/specs/test.ts')),
  listed('explain', 'ask whether the gate would allow a call', () => import('./commands/specs/explain.ts')),
  listed(
    'doctor',
    'check this machine: missing parts, and what works without them',
    () => import('./commands/doctor.ts'),
  ),
  listed('status', 'show where a session is, in one line', () => import('./commands/evidence/status.ts')),
  listed('sessions', 'list the sessions', () => import('./commands/evidence/sessions.ts')),
  listed('log', 'print the evidence of a session', () => import('./commands/evidence/log.ts')),
  listed(
    'activity',
    'list a session as activity events, or import a foreign log',
    () => import('./commands/evidence/activity.ts'),
  ),
  listed('erase', 'erase the content of a session, but not its chain', () => import('./commands/evidence/erase.ts')),
  listed('thread', 'show a session as a readable thread', () => import('./commands/evidence/thread.ts')),
  listed('watch', 'open the live view of a session', () => import('./commands/evidence/watch.ts')),
  listed('record', 'write a page that replays sessions', () => import('./commands/evidence/record.ts')),
  listed('par', 'add up the reviews of sessions', () => import('./commands/evidence/par.ts')),
  listed('verify', 'check that sessions obeyed their specs', () => import('./commands/evidence/verify.ts')),
  listed('seal', 'sign the evidence of a session', () => import('./commands/evidence/seal.ts')),
  listed('report', 'sum up what enforcement would have refused', () => import('./commands/evidence/report.ts')),
  listed('infer', 'propose the tightest specs for past sessions', () => import('./commands/evidence/infer.ts')),
  listed('replay', 'decide old sessions again under other specs', () => import('./commands/evidence/replay.ts')),
  listed('resume', 'settle an interrupted session', () => import('./commands/resume.ts')),
  listed('generate', 'write the machines of a spec set', () => import('./commands/specs/generate.ts')),
  listed('graph', 'print the hop graph', () => import('./commands/specs/graph.ts')),
  listed('inspect', "watch a session's machines", () => import('./commands/specs/inspect.ts')),
  listed('daemon', 'the process that answers hooks', () => import('./commands/clients/daemon.ts')),
  listed('completion', 'print a completion script for your shell', () => import('./commands/help/completion.ts')),
  listed('man', 'print the manual page', () => import('./commands/help/man.ts')),
  listed('complete', 'complete a command line', () => import('./commands/help/complete.ts'), { hidden: true }),
  listed('hook', 'answer one hook of a client program', () => import('./commands/clients/hook.ts'), { hidden: true }),
] as const;
