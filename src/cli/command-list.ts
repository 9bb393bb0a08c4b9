import type { Command } from 'commander';
import type { Io } from './io.ts';

/** A command of the command line. Its module is loaded only if the command is used, because most of them are large. */
interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  /** True for commands that only programs call. */
  readonly hidden?: boolean;
  readonly load: () => Promise<{ readonly register: (command: Command, io: Io) => void }>;
}

/** The commands, in the order of the help. */
export const COMMANDS: readonly ListedCommand[] = [
  { name: 'try', summary: 'play a demo in a temporary folder', load: () => import('./commands/try.ts') },
  { name: 'run', summary: 'run a scenario', load: () => import('./commands/run.ts') },
  { name: 'shell', summary: 'act as the agent yourself', load: () => import('./commands/shell.ts') },
  { name: 'claude', summary: 'start Claude Code in a session', load: () => import('./commands/clients/claude.ts') },
  { name: 'codex', summary: 'start Codex in a session', load: () => import('./commands/clients/codex.ts') },
  { name: 'mcp', summary: 'serve a session to an MCP client', load: () => import('./commands/clients/mcp.ts') },
  {
    name: 'acp',
    summary: 'put an ACP agent into a session, for an editor',
    load: () => import('./commands/clients/acp.ts'),
  },
  {
    name: 'install',
    summary: 'add hopgate to the settings of a client program',
    load: () => import('./commands/clients/install.ts'),
  },
  {
    name: 'uninstall',
    summary: 'remove hopgate from the settings of a client program',
    load: () => import('./commands/clients/uninstall.ts'),
  },
  {
    name: 'approve',
    summary: 'answer the approval requests of agents',
    load: () => import('./commands/clients/approve.ts'),
  },
  {
    name: 'grants',
    summary: 'list and revoke the grants of the operator',
    load: () => import('./commands/clients/grants.ts'),
  },
  {
    name: 'note',
    summary: 'write to the agent of a session',
    load: () => import('./commands/clients/note.ts'),
  },
  {
    name: 'hop',
    summary: 'move a session to another peripheral as the operator',
    load: () => import('./commands/clients/hop.ts'),
  },
  {
    name: 'send',
    summary: "send a message, gated by the recipient's mode",
    load: () => import('./commands/messages/send.ts'),
  },
  {
    name: 'bell',
    summary: 'send a message to an agent or a person',
    load: () => import('./commands/messages/bell.ts'),
  },
  {
    name: 'whistle',
    summary: 'send a message and wait for its answer',
    load: () => import('./commands/messages/whistle.ts'),
  },
  {
    name: 'inbox',
    summary: 'read the messages of a person',
    load: () => import('./commands/messages/inbox.ts'),
  },
  {
    name: 'serve',
    summary: 'serve all sessions over HTTP, for programs and the live view',
    load: () => import('./commands/clients/serve.ts'),
  },
  {
    name: 'world',
    summary: 'serve a text household, in which an agent can practise',
    load: () => import('./commands/world.ts'),
  },
  {
    name: 'agency',
    summary: 'run agents once, here and on other machines',
    load: () => import('./commands/clients/agency.ts'),
  },
  {
    name: 'par-bell',
    summary: 'call several agents to one review, in one shared document',
    load: () => import('./commands/clients/par-bell.ts'),
  },
  {
    name: 'scorecard',
    summary: 'let an agent live in the household, and judge it by P-1 to P-6',
    load: () => import('./commands/scorecard.ts'),
  },
  {
    name: 'upstream',
    summary: 'use the tools of other MCP servers',
    load: () => import('./commands/clients/upstream.ts'),
  },
  {
    name: 'init',
    summary: 'write hopgate.yaml from the files of the repository',
    load: () => import('./commands/init.ts'),
  },
  { name: 'trust', summary: 'accept the current hopgate.yaml', load: () => import('./commands/trust.ts') },
  { name: 'check', summary: 'check a spec set and hopgate.yaml', load: () => import('./commands/specs/check.ts') },
  { name: 'test', summary: 'run the tests that a spec set generates', load: () => import('./commands/specs/test.ts') },
  {
    name: 'explain',
    summary: 'ask whether the gate would allow a call',
    load: () => import('./commands/specs/explain.ts'),
  },
  {
    name: 'doctor',
    summary: 'check this machine: missing parts, and what works without them',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'status',
    summary: 'show where a session is, in one line',
    load: () => import('./commands/evidence/status.ts'),
  },
  { name: 'sessions', summary: 'list the sessions', load: () => import('./commands/evidence/sessions.ts') },
  { name: 'log', summary: 'print the evidence of a session', load: () => import('./commands/evidence/log.ts') },
  {
    name: 'activity',
    summary: 'list a session as activity events, or import a foreign log',
    load: () => import('./commands/evidence/activity.ts'),
  },
  {
    name: 'erase',
    summary: 'erase the content of a session, but not its chain',
    load: () => import('./commands/evidence/erase.ts'),
  },
  {
    name: 'thread',
    summary: 'show a session as a readable thread',
    load: () => import('./commands/evidence/thread.ts'),
  },
  {
    name: 'watch',
    summary: 'open the live view of a session',
    load: () => import('./commands/evidence/watch.ts'),
  },
  {
    name: 'record',
    summary: 'write a page that replays sessions',
    load: () => import('./commands/evidence/record.ts'),
  },
  { name: 'par', summary: 'add up the reviews of sessions', load: () => import('./commands/evidence/par.ts') },
  {
    name: 'verify',
    summary: 'check that sessions obeyed their specs',
    load: () => import('./commands/evidence/verify.ts'),
  },
  { name: 'seal', summary: 'sign the evidence of a session', load: () => import('./commands/evidence/seal.ts') },
  {
    name: 'report',
    summary: 'sum up what enforcement would have refused',
    load: () => import('./commands/evidence/report.ts'),
  },
  {
    name: 'infer',
    summary: 'propose the tightest specs for past sessions',
    load: () => import('./commands/evidence/infer.ts'),
  },
  {
    name: 'replay',
    summary: 'decide old sessions again under other specs',
    load: () => import('./commands/evidence/replay.ts'),
  },
  { name: 'resume', summary: 'settle an interrupted session', load: () => import('./commands/resume.ts') },
  { name: 'generate', summary: 'write the machines of a spec set', load: () => import('./commands/specs/generate.ts') },
  { name: 'graph', summary: 'print the hop graph', load: () => import('./commands/specs/graph.ts') },
  { name: 'inspect', summary: "watch a session's machines", load: () => import('./commands/specs/inspect.ts') },
  { name: 'daemon', summary: 'the process that answers hooks', load: () => import('./commands/clients/daemon.ts') },
  {
    name: 'completion',
    summary: 'print a completion script for your shell',
    load: () => import('./commands/help/completion.ts'),
  },
  { name: 'man', summary: 'print the manual page', load: () => import('./commands/help/man.ts') },
  {
    name: 'complete',
    summary: 'complete a command line',
    hidden: true,
    load: () => import('./commands/help/complete.ts'),
  },
  {
    name: 'hook',
    summary: 'answer one hook of a client program',
    hidden: true,
    load: () => import('./commands/clients/hook.ts'),
  },
];
