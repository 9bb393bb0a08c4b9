import { randomUUID } from 'node:crypto';
import { InvalidArgumentError, Option } from 'commander';
import { dialIn } from '../../../agency/dial-in.ts';
import type { RunReply } from '../../../agency/run-reply.ts';
import type { RunRequest } from '../../../agency/run-request.ts';
import { runWithAllAgents } from '../../../agency/run-with-all-agents.ts';
import { parseJson } from '../../../base/json.ts';
import { escapeInvisible, plural } from '../../../base/text.ts';
import { Tokens } from '../../../server/access/tokens.ts';
import { EvidenceOfAllRepositories } from '../../../server/all-evidence.ts';
import { describeExchange, exchangeMailWithNode } from '../../../server/messages/exchange-mail.ts';
import { NodeMailExchange } from '../../../server/messages/node-mail.ts';
import { loadAgency, nodeNameOf } from '../../../spec/agency/load-agency.ts';
import type { Json } from '../../../spec/types.ts';
import { agencyFolderOf, agencyOption, formatRunReply, openLocalNode, withLocalNode } from '../../agency/use-node.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, print, printJson, printRemark, readNamedFile, usageError } from '../../io.ts';
import { onTerminationSignal } from '../../on-signal.ts';
import { nameParser, numberParser } from '../../shared-options.ts';
import { printTable } from '../../table.ts';

interface RunOptions {
  readonly agency?: string;
  readonly input: readonly (readonly [string, Json])[];
  readonly prompt?: string;
  readonly session?: string;
  readonly file: readonly string[];
  readonly route?: string;
  readonly key?: string;
  readonly wait?: number;
}

type ConnectOptions = RunOptions & { readonly tokenFile: string; readonly node?: string };

export function configureCommand(command: CliCommand, io: Io): void {
  command.description(
    'Runs agents in agency peripherals: one prompt from inputs, one response. The agency folder contains peripherals.yaml and agents.yaml, or the same names with .edn. An agent runs here, on a node with an address, or on a node that connects to this one.',
  );
  command.examples('hopgate agency check', 'hopgate agency run claude par-participant --prompt "Say hello"');
  const withRequest = (made: CliCommand): CliCommand =>
    made
      .addOption(agencyOption())
      .addOption(
        new Option('--input <name=value>', 'an input of the template; JSON if it reads as JSON, else text')
          .default([], 'none')
          .argParser(inputOf),
      )
      .option('--prompt <text>', "the user's own request")
      .option('--session <id>', 'the session whose last turns and evidence are added if the peripheral has context')
      .addOption(
        new Option('--file <path>', 'with --session: a file that this session reads for the agent; may be repeated')
          .default([], 'none')
          .argParser((path: string, before: readonly string[]) => [...before, path]),
      )
      .option('--route <where>', 'overrides the location of the agent: local, or the url of a remote node')
      .option('--key <key>', 'the name of the run: the same key never starts the agent again', nameParser(200))
      .option('--wait <seconds>', 'the time to wait for the reply; after it, the run continues', numberParser(604_800));
  withRequest(command.command('run'))
    .summary('run one agent')
    .description('Runs one agent. Exit code 1 if the run fails.')
    .argument('<agent>', 'the agent, by its name in the registry')
    .argument('<peripheral>', 'the agency peripheral')
    .examples(
      'hopgate agency run codex par-participant --input par/title=Debrief --input par/crdt-host=localhost --input par/crdt-port=6530 --input session/id=019c',
      'hopgate agency run claude par-participant --prompt "Say hello" --wait 60 --json',
    )
    .action((agent: string, peripheral: string, options: RunOptions) => runOne(io, agent, peripheral, options));
  withRequest(command.command('fan-out'))
    .summary('run several agents at once')
    .description('Runs several agents at once. Exit code 1 if any of them fails.')
    .argument('<agents>', 'the names of the agents, separated by commas')
    .argument('<peripheral>', 'the agency peripheral')
    .examples('hopgate agency fan-out claude,codex par-participant --prompt "Say hello"')
    .action((agents: string, peripheral: string, options: RunOptions) => runAll(io, agents, peripheral, options));
  command
    .command('check')
    .summary('check an agency folder')
    .description('Checks an agency folder and the files that it names, and lists what it contains.')
    .addOption(agencyOption())
    .examples('hopgate agency check', 'hopgate agency check --agency resources/agency')
    .action((options: RunOptions) => check(io, options));
  command
    .command('token')
    .summary('print the token for another node')
    .description('Prints the token with which another node may use this one. Keep it secret.')
    .argument('<node>', 'the name of the node', nameParser(100))
    .examples('hopgate agency token laptop > laptop.token')
    .action((node: string) => print(io, new Tokens(io.env).ofNode(node)));
  command
    .command('connect')
    .summary('run the agents of this machine for a node')
    .description(
      'Connects this machine to a node, runs the agents of this machine for it, exchanges messages with it, and keeps the connection.',
    )
    .argument('<url>', 'the address that "hopgate serve --agency-listen" printed on that node', parseAddress)
    .requiredOption('--token-file <file>', 'the file with the token that "hopgate agency token" printed on that node')
    .option(
      '--node <name>',
      'the name of that node in addresses of messages (default: the host of the url)',
      nameParser(100),
    )
    .addOption(agencyOption())
    .examples(
      'hopgate agency connect http://10.0.0.1:4781 --token-file laptop.token',
      'hopgate agency connect http://10.0.0.1:4781 --token-file laptop.token --node desk',
    )
    .action((url: string, options: ConnectOptions) => connect(io, url, options));
}

const requestOf = (
  agent: string,
  peripheral: string,
  { input, prompt, session, file, route }: RunOptions,
): RunRequest => {
  if (file.length > 0 && session === undefined)
    throw usageError('--file needs a session, whose gate decides the reading', 'Name one with --session ID.');
  return {
    'agent-id': agent,
    peripheral,
    ...(input.length > 0 || prompt === undefined ? { inputs: Object.fromEntries(input) } : {}),
    ...(prompt === undefined ? {} : { prompt }),
    ...(session === undefined
      ? {}
      : { 'context-from': { session, ...(file.length === 0 ? {} : { files: [...file] }) } }),
    ...(route === undefined ? {} : { route }),
  };
};

/** Remedies by error code, in the words of the command line. The original remedies name fields of a request. */
const OPTION_REMEDIES: { readonly [code: string]: string } = {
  'missing-inputs': 'Give each one with --input NAME=VALUE; or give no input, and --prompt TEXT.',
  'context-unavailable': 'Name a session with --session ID, and its files with --file PATH.',
};

function withOptionRemedy(reply: RunReply, key: string): RunReply {
  if (reply.ok) return reply;
  const { code, remedy } = reply.error;
  const inWords = OPTION_REMEDIES[code] ?? remedy.replace('the same key', `--key ${key}`);
  return { ...reply, error: { ...reply.error, remedy: inWords } };
}

async function runOne(io: Io, agent: string, peripheral: string, options: RunOptions): Promise<void> {
  const key = options.key ?? randomUUID();
  const request = requestOf(agent, peripheral, options);
  const reply = await withLocalNode(io, options, async (send, signal) =>
    withOptionRemedy(await send(request, { key, budgetMs: budgetOf(options), via: [] }, signal), key),
  );
  if (io.json) {
    printJson(io, reply);
    if (!reply.ok) io.exitCode = 1;
  } else if (reply.ok) print(io, formatRunReply(reply));
  else {
    const { code, message, remedy } = reply.error;
    throw new CliError(code, message, remedy, { exitCode: code === 'invalid-request' ? 2 : 1 });
  }
}

async function runAll(io: Io, agents: string, peripheral: string, options: RunOptions): Promise<void> {
  const key = options.key ?? randomUUID();
  const all = await withLocalNode(io, options, (send, signal) =>
    runWithAllAgents(agents.split(',').filter(Boolean), async (agent) => {
      const route = { key: `${key}.${agent}`, budgetMs: budgetOf(options), via: [] };
      return withOptionRemedy(await send(requestOf(agent, peripheral, options), route, signal), key);
    }),
  );
  if (io.json) printJson(io, all);
  else
    for (const [agent, reply] of Object.entries(all.replies))
      print(io, `${escapeInvisible(agent)}: ${formatRunReply(reply)}`);
  if (all.outcome !== 'all') io.exitCode = 1;
}

const budgetOf = ({ wait }: RunOptions): number | null => (wait === undefined ? null : wait * 1_000);

function check(io: Io, options: RunOptions): void {
  const { peripherals, agents } = loadAgency(agencyFolderOf(io, options), { checkFiles: true });
  if (io.json) return printJson(io, { peripherals, agents });
  const [specs, all] = [Object.values(peripherals), Object.values(agents)];
  print(io, `${plural(specs.length, 'agency peripheral')}, ${plural(all.length, 'agent')}`);
  if (specs.length > 0)
    printTable(
      io,
      ['peripheral', 'inputs', 'tools', 'response'],
      specs.map(({ id, inputs, tools, response }) => [
        id,
        inputs.join(', ') || '-',
        Object.entries(tools)
          .flatMap(([key, on]) => (on ? [key] : []))
          .join(', ') || 'none',
        response.type,
      ]),
    );
  if (all.length > 0)
    printTable(
      io,
      ['agent', 'location', 'by'],
      all.map((agent) => [
        agent.id,
        agent.location,
        agent.location === 'local' ? agent.driver : agent.location === 'remote' ? agent.url : agent.node,
      ]),
    );
}

function parseAddress(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('It must be an address, such as http://10.0.0.1:4781.');
}

async function connect(io: Io, url: string, options: ConnectOptions): Promise<void> {
  const node = openLocalNode(io, options);
  const ended = new AbortController();
  onTerminationSignal(() => ended.abort());
  const token = readNamedFile(io, options.tokenFile).trim();
  const allEvidence = new EvidenceOfAllRepositories(io.env);
  const farName = options.node ?? nodeNameOf(url);
  const exchanged = exchangeMailWithNode({
    node: farName,
    url,
    token: () => token,
    mail: new NodeMailExchange(allEvidence),
    signal: ended.signal,
    onChange: (problem) => printRemark(io, escapeInvisible(describeExchange(farName, problem))),
  });
  const end = await dialIn({
    url,
    token,
    run: (request, route) => node.run(request, route),
    cancel: (key) => void node.cancel(key),
    signal: ended.signal,
    onChange: (isConnected, problem) =>
      printRemark(
        io,
        isConnected
          ? `connected to ${url}`
          : `not connected to ${url}${problem ? `: ${escapeInvisible(problem)}` : ''}`,
      ),
  });
  ended.abort();
  await exchanged;
  await allEvidence.close();
  await node.close();
  if (end === 'replaced')
    throw new CliError(
      'node-replaced',
      `another program connected to ${url} as the same node`,
      'Run one "hopgate agency connect" on each machine, with a token of its own: "hopgate agency token NODE".',
    );
}

function inputOf(text: string, before: RunOptions['input']): RunOptions['input'] {
  const [, name, value] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('It must be name=value.');
  return [...before, [name, parseJson(value!, value!)]];
}
