import type { CliCommand } from './cli-command.ts';
import type { Io } from './io.ts';

type Load = () => Promise<{ readonly configureCommand: (command: CliCommand, io: Io) => void }>;

/** A command. Its module is loaded only if it is used. Only programs call a hidden command. */
const command = (name: string, summary: string, load: Load, { hidden = false } = {}) => ({
  name,
  summary,
  load,
  hidden,
});

export const CLI_COMMANDS = [
  command('try', 'play a demo in a temporary folder', () => import('./commands/try.ts')),
  command('run', 'run a scenario', () => import('./commands/run.ts')),
  command('shell', 'act as the agent yourself', () => import('./commands/shell.ts')),
  command('claude', 'start Claude Code in a session', () => import('./commands/clients/claude.ts')),
  command('codex', 'start Codex in a session', () => import('./commands/clients/codex.ts')),
  command('mcp', 'serve a session to an MCP client', () => import('./commands/clients/mcp.ts')),
  command('acp', 'put an ACP agent into a session, for an editor', () => import('./commands/clients/acp.ts')),
  command('install', 'add hopgate to the settings of a client program', () => import('./commands/clients/install.ts')),
  command(
    'uninstall',
    'remove hopgate from the settings of a client program',
    () => import('./commands/clients/uninstall.ts'),
  ),
  command('approve', 'answer the approval requests of agents', () => import('./commands/clients/approve.ts')),
  command('grants', 'list and revoke the grants of the operator', () => import('./commands/clients/grants.ts')),
  command('note', 'write to the agent of a session', () => import('./commands/clients/note.ts')),
  command('hop', 'move a session to another peripheral as the operator', () => import('./commands/clients/hop.ts')),
  command('send', "send a message, gated by the recipient's mode", () => import('./commands/messages/send.ts')),
  command('bell', 'send a message to an agent or a person', () => import('./commands/messages/bell.ts')),
  command('whistle', 'send a message and wait for its answer', () => import('./commands/messages/whistle.ts')),
  command('inbox', 'read the messages of a person', () => import('./commands/messages/inbox.ts')),
  command(
    'serve',
    'serve all sessions over HTTP, for programs and the live view',
    () => import('./commands/clients/serve.ts'),
  ),
  command('world', 'serve a text household, in which an agent can practise', () => import('./commands/world.ts')),
  command('agency', 'run agents once, here and on other machines', () => import('./commands/clients/agency.ts')),
  command(
    'par-bell',
    'call several agents to one review, in one shared document',
    () => import('./commands/clients/par-bell.ts'),
  ),
  command(
    'scorecard',
    'judge scripted runs in the household by the six demands',
    () => import('./commands/scorecard.ts'),
  ),
  command('upstream', 'use the tools of other MCP servers', () => import('./commands/clients/upstream.ts')),
  command('init', 'write hopgate.yaml from the files of the repository', () => import('./commands/init.ts')),
  command('trust', 'trust the current hopgate.yaml', () => import('./commands/trust.ts')),
  command('check', 'check a spec set and hopgate.yaml', () => import('./commands/specs/check.ts')),
  command('test', 'run the tests that a spec set generates', () => import('./commands/specs/test.ts')),
  command('explain', 'ask whether the gate would allow a call', () => import('./commands/specs/explain.ts')),
  command(
    'doctor',
    'check this machine: missing parts, and what works without them',
    () => import('./commands/doctor.ts'),
  ),
  command('status', 'show where a session is, in one line', () => import('./commands/evidence/status.ts')),
  command('sessions', 'list the sessions', () => import('./commands/evidence/sessions.ts')),
  command('log', 'print the evidence of a session', () => import('./commands/evidence/log.ts')),
  command(
    'activity',
    'list a session as activity events, or import a foreign log',
    () => import('./commands/evidence/activity.ts'),
  ),
  command('erase', 'erase the content of a session, but not its chain', () => import('./commands/evidence/erase.ts')),
  command('thread', 'show a session as a readable thread', () => import('./commands/evidence/thread.ts')),
  command('watch', 'open the live view of a session', () => import('./commands/evidence/watch.ts')),
  command('record', 'write a page that replays sessions', () => import('./commands/evidence/record.ts')),
  command('par', 'add up the reviews of sessions', () => import('./commands/evidence/par.ts')),
  command('verify', 'check that sessions obeyed their specs', () => import('./commands/evidence/verify.ts')),
  command('seal', 'sign the evidence of a session', () => import('./commands/evidence/seal.ts')),
  command('report', 'sum up what enforcement would have refused', () => import('./commands/evidence/report.ts')),
  command('infer', 'propose the tightest specs for past sessions', () => import('./commands/evidence/infer.ts')),
  command('replay', 'decide old sessions again under other specs', () => import('./commands/evidence/replay.ts')),
  command('resume', 'settle an interrupted session', () => import('./commands/resume.ts')),
  command('generate', 'write the machines of a spec set', () => import('./commands/specs/generate.ts')),
  command('graph', 'print the hop graph', () => import('./commands/specs/graph.ts')),
  command('inspect', "watch a session's machines", () => import('./commands/specs/inspect.ts')),
  command('daemon', 'control the process that answers hooks', () => import('./commands/clients/daemon.ts')),
  command('completion', 'print a completion script for your shell', () => import('./commands/help/completion.ts')),
  command('man', 'print the manual page', () => import('./commands/help/man.ts')),
  command('complete', 'complete a command line', () => import('./commands/help/complete.ts'), { hidden: true }),
  command('hook', 'answer one hook of a client program', () => import('./commands/clients/hook.ts'), {
    hidden: true,
  }),
] as const;
