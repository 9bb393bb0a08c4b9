import manifest from '../../../../package.json' with { type: 'json' };
import { escapeInvisible, plural } from '../../../base/text.ts';
import { configWithWritePaths } from '../../../gate/decide-step.ts';
import { type OpenedProject, openProject } from '../../../project/open-project.ts';
import { CONFIG_FILE } from '../../../project/repository-root.ts';
import { describeSimilarName } from '../../../spec/names.ts';
import type { ToolSpec, UpstreamServer, UpstreamTool } from '../../../spec/types.ts';
import { writeCatalogueFragments } from '../../../tools/upstream/catalogue-fragments.ts';
import { compareUpstreamTool, type ToolComparison } from '../../../tools/upstream/compare-tool.ts';
import type { ListedTool } from '../../../tools/upstream/listed-tool.ts';
import { READY_MS, UpstreamConnection, UpstreamDownError } from '../../../tools/upstream/upstream-connection.ts';
import { findWritableProgram } from '../../../tools/upstream/writable-program.ts';
import type { CliCommand } from '../../cli-command.ts';
import {
  CliError,
  formatHeading,
  type Io,
  paint,
  print,
  printJson,
  printRemark,
  type TextStyle,
  usageError,
} from '../../io.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';
import { formatTable } from '../../table.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      `Works with the MCP servers under "upstream" in ${CONFIG_FILE}. An agent can use a tool of such a server only if the specs name the tool.`,
    )
    .examples('hopgate upstream list', 'hopgate upstream import files');
  command
    .command('list')
    .summary('compare the tools of the servers with the specs')
    .description(
      'Asks each server for its tools and compares them with the specs: tools that are served, that are missing, that differ from their pinned hash, or that take other arguments. Exit code 1 if a server does not answer or a tool cannot be called.',
    )
    .addOption(rootOption())
    .examples('hopgate upstream list', 'hopgate upstream list --json')
    .action((options: RootOption) => list(io, options));
  command
    .command('import')
    .summary('print entries of tools.yaml for the tools of a server')
    .description(
      'Prints an entry of tools.yaml for each tool that the server lists: its arguments with guessed roles, its effect, and the hash that pins it. Guesses are marked CHECK. Copy the entries that you need into tools.yaml, and their names into the tools of a peripheral.',
    )
    .argument('<server>', `a name under upstream in ${CONFIG_FILE}`)
    .option('--prefix <prefix>', 'the prefix of the tool names (default: the name of the server)')
    .addOption(rootOption())
    .examples('hopgate upstream import files', 'hopgate upstream import files --prefix fs > fs.yaml')
    .action((server: string, options: RootOption & { readonly prefix?: string }) => importTools(io, server, options));
}

async function importTools(io: Io, name: string, options: RootOption & { readonly prefix?: string }): Promise<void> {
  const project = await openProject(resolveRootOption(io, options), io.env);
  const server = serverNamed(project, name);
  const prefix = options.prefix ?? name;
  if (!/^[a-z][a-z0-9-]*$/.test(prefix))
    throw usageError(`"${prefix}" cannot begin a tool's name`, 'Use lower-case letters, digits and -.');
  const tools = await withConnection(io, project, name, server, (connection) => connection.tools());
  const fragments = writeCatalogueFragments(name, tools.values(), prefix);
  if (io.json) return printJson(io, { server: name, tools: fragments });
  print(io, ['tools:', ...fragments.map(({ yaml }) => yaml)].join('\n'));
  printRemark(
    io,
    `${plural(fragments.length, 'tool')}; review every CHECK, keep the entries that you need, and add them to the tools of a peripheral.`,
  );
}

function serverNamed({ config, narrowed, ignored }: OpenedProject, name: string): UpstreamServer {
  const servers = config.upstream ?? {};
  if (Object.hasOwn(servers, name)) return servers[name]!;
  if (narrowed && ignored.includes('upstream'))
    throw new CliError(
      'not-trusted',
      `${CONFIG_FILE} is not trusted, so its upstream servers are not used`,
      'Read it, then run "hopgate trust".',
    );
  throw new CliError(
    'unknown-upstream',
    `${CONFIG_FILE} names no upstream "${name}" (${describeSimilarName(name, Object.keys(servers))})`,
    `Add it to ${CONFIG_FILE}: upstream: { ${name}: { command: [npx, some-mcp-server] } }`,
  );
}

/** Time after which a command says what it waits for, in milliseconds. */
const SLOW_MS = 2_000;

/** Runs `work` with a connection, which is closed afterwards. */
async function withConnection<T>(
  io: Io,
  { root, specs, config }: OpenedProject,
  name: string,
  server: UpstreamServer,
  work: (connection: UpstreamConnection) => Promise<T>,
): Promise<T> {
  const writable = findWritableProgram(server, root, configWithWritePaths(specs, config).scopes);
  if (writable)
    throw new CliError(
      'upstream-writable',
      `agents may write ${writable}, which the upstream "${name}" runs outside of the sandbox`,
      'Move it to a place that agents cannot write.',
    );
  const clock = { now: () => Date.now() };
  const connection = new UpstreamConnection(name, server, {
    root,
    env: io.env,
    clock,
    random: Math.random,
    version: manifest.version,
  });
  const wait = `waiting for the upstream "${name}" to start, at most ${READY_MS / 1000} s`;
  const slow = setTimeout(() => printRemark(io, wait), SLOW_MS);
  try {
    return await work(connection);
  } catch (error) {
    if (!(error instanceof UpstreamDownError)) throw error;
    throw new CliError(
      'upstream-down',
      error.message,
      'url' in server
        ? `Start the server, or correct its url in ${CONFIG_FILE}.`
        : 'Start it by hand with the same command to see the error.',
    );
  } finally {
    clearTimeout(slow);
    await connection.close();
  }
}

interface Server {
  readonly name: string;
  readonly at: string;
  /** null if the server answers. */
  readonly problem: string | null;
  readonly tools: ReadonlyMap<string, ListedTool> | null;
}

async function list(io: Io, options: RootOption): Promise<void> {
  const project = await openProject(resolveRootOption(io, options), io.env);
  const configured = Object.entries(project.config.upstream ?? {});
  const servers = await Promise.all(configured.map(([name, server]) => listServer(io, project, name, server)));
  const bound = Object.values(project.specs.tools).filter(
    (tool): tool is ToolSpec & { readonly upstream: UpstreamTool } => tool.upstream !== undefined,
  );
  const compared = bound.map((tool) => compare(tool, servers));
  const ok = servers.every(({ problem }) => problem === null) && compared.every(({ standing }) => standing === 'ok');
  io.exitCode = ok ? 0 : 1;
  const untrusted = project.ignored.includes('upstream');
  if (untrusted && !io.json)
    printRemark(
      io,
      `${CONFIG_FILE} is not trusted, so its upstream servers are not used; read it, then run "hopgate trust".`,
    );
  if (io.json) {
    printJson(io, {
      ok,
      servers: servers.map(({ name, at, problem, tools }) => ({
        name,
        at,
        problem,
        tools: tools && [...tools.keys()],
      })),
      tools: compared,
    });
    return;
  }
  if (servers.length === 0 && compared.length === 0) return print(io, `${CONFIG_FILE} names no upstream.`);
  print(io, servers.map((server) => serverLine(io, server, compared)).join('\n'));
  if (compared.length === 0) return;
  const rows = compared.map(({ tool, upstream, standing, remarks }) => [
    [STYLES[standing], standing] as const,
    tool,
    `${upstream.server}: ${upstream.tool}`,
    remarks.join('; '),
  ]);
  print(io, `\n${formatHeading(io, 'Tools of the specs')}\n${formatTable(io, ['', 'tool', 'upstream', ''], rows)}`);
}

const STYLES: { readonly [standing in ToolComparison['standing']]: TextStyle } = {
  ok: 'green',
  missing: 'red',
  changed: 'red',
  differs: 'yellow',
  unknown: 'yellow',
};

async function listServer(io: Io, project: OpenedProject, name: string, server: UpstreamServer): Promise<Server> {
  const at = 'url' in server ? server.url : server.command.join(' ');
  try {
    const tools = await withConnection(io, project, name, server, (connection) => connection.tools());
    return { name, at, problem: null, tools };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { name, at, problem: error.message, tools: null };
  }
}

function compare(tool: ToolSpec & { readonly upstream: UpstreamTool }, servers: readonly Server[]): ToolComparison {
  const server = servers.find(({ name }) => name === tool.upstream.server);
  if (!server)
    return {
      ...compareUpstreamTool(tool, null),
      remarks: [`${CONFIG_FILE} names no upstream "${tool.upstream.server}"`],
    };
  return compareUpstreamTool(tool, server.tools === null ? null : server.tools.get(tool.upstream.tool));
}

function serverLine(io: Io, { name, at, problem, tools }: Server, compared: readonly ToolComparison[]): string {
  const used = new Set(compared.flatMap(({ upstream }) => (upstream.server === name ? [upstream.tool] : [])));
  const has = [...(tools?.keys() ?? [])].filter((tool) => used.has(tool)).length;
  const mark = problem === null ? paint(io, 'green', 'answers') : paint(io, 'red', 'down   ');
  const detail =
    problem === null ? `${plural(tools!.size, 'tool')}, ${has} of them used by the specs` : escapeInvisible(problem);
  return `${mark}  ${formatHeading(io, name)}  ${escapeInvisible(at)}\n         ${detail}`;
}
