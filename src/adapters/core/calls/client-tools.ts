/** The programs whose tool names hopgate knows; `mcp` is any client that only calls tools by MCP names. */
export const CLIENT_PROVIDERS = ['claude-code', 'codex', 'mcp'] as const;
export type ClientProvider = (typeof CLIENT_PROVIDERS)[number];

export type ClientToolTranslation =
  /** A hopgate tool does the same. `as` renames the arguments; arguments not named there are kept in `extra`. */
  | {
      readonly kind: 'same';
      readonly tool: string;
      readonly as: { readonly [argument: string]: string };
      readonly fixed?: { readonly [argument: string]: string };
      readonly how: 'native' | 'contained';
    }
  /**
   * A shell. `command` lists names of arguments; the first existing one has the command, as a line or a list of words.
   * `folder` names the argument with the working folder. With `patches`, the client itself applies the patch that a
   * command gives to `apply_patch`, which is not a program.
   */
  | {
      readonly kind: 'shell';
      readonly command: readonly string[];
      readonly folder: string | null;
      readonly patches: boolean;
    }
  | { readonly kind: 'multi-edit' }
  /** A cell of a notebook: the client can edit the file, hopgate's tools cannot. */
  | { readonly kind: 'notebook' }
  | { readonly kind: 'patch' }
  /** A search of the web; only a tool that is bound to an MCP server can do it here. */
  | { readonly kind: 'search' }
  /** The client's own bookkeeping without effect. The calls of a sub-agent that it starts are decided one by one. */
  | { readonly kind: 'inner' }
  /** A tool that is always refused, because no scope can limit it. `why` completes "the tool …". */
  | { readonly kind: 'outside'; readonly why: string };

type Table = ReadonlyMap<string, ClientToolTranslation>;

const inner = (...names: readonly string[]): [string, ClientToolTranslation][] =>
  names.map((name) => [name, { kind: 'inner' }]);
const outside = (why: string, ...names: readonly string[]): [string, ClientToolTranslation][] =>
  names.map((name) => [name, { kind: 'outside', why }]);

/** Reads of MCP resources are refused: another server can have hopgate's name, so the read may show any content. */
const READS_RESOURCE = 'reads from an MCP server that it names, and a name does not tell which server answers';

/**
 * The tools that Claude Code 2.1.328 offered to a model (headless, with and without its switches for search and task
 * tools), and further ones that its SDK's types name. MultiEdit, BashOutput and KillShell are of older versions.
 */
const CLAUDE_CODE: Table = new Map<string, ClientToolTranslation>([
  ['Read', { kind: 'same', tool: 'read', as: { file_path: 'path', offset: 'offset', limit: 'limit' }, how: 'native' }],
  ['Glob', { kind: 'same', tool: 'glob', as: { pattern: 'pattern', path: 'path' }, how: 'native' }],
  [
    'Grep',
    {
      kind: 'same',
      tool: 'grep',
      as: { pattern: 'pattern', path: 'path', glob: 'glob', '-i': 'ignore-case' },
      how: 'native',
    },
  ],
  [
    'Edit',
    {
      kind: 'same',
      tool: 'edit',
      as: { file_path: 'path', old_string: 'old', new_string: 'new', replace_all: 'all' },
      how: 'native',
    },
  ],
  ['MultiEdit', { kind: 'multi-edit' }],
  ['Write', { kind: 'same', tool: 'write', as: { file_path: 'path', content: 'content' }, how: 'native' }],
  ['NotebookEdit', { kind: 'notebook' }],
  ['Bash', { kind: 'shell', command: ['command'], folder: null, patches: false }],
  ['WebFetch', { kind: 'same', tool: 'web-fetch', as: { url: 'url' }, how: 'contained' }],
  ['ListMcpResourcesTool', { kind: 'inner' }],
  ...outside(READS_RESOURCE, 'ReadMcpResourceTool', 'ReadMcpResourceDirTool'),
  // Allowed without a decision: each call of the started or addressed agent is decided by itself.
  ...inner('Agent', 'Task', 'ListAgents', 'SendMessage'),
  ...inner('TodoWrite', 'TaskCreate', 'TaskGet', 'TaskUpdate', 'TaskList', 'TaskOutput', 'TaskStop'),
  ...inner('BashOutput', 'KillShell', 'ReportFindings', 'StructuredOutput', 'ScheduleWakeup', 'CronList'),
  ...inner('ToolSearch', 'WaitForMcpServers', 'RefreshMcpTools'),
  ...inner('AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode', 'SendUserMessage'),
  ['WebSearch', { kind: 'search' }],
  // The instruction files were checked before the conversation.
  ...inner('Skill'),
  ...outside('runs a command outside of any sandbox; run it with Bash', 'Monitor', 'PowerShell', 'REPL'),
  ...outside('outlives this session', 'CronCreate', 'CronDelete', 'RemoteTrigger', 'Workflow'),
  ...outside('makes another working tree, where this session has no limits', 'EnterWorktree', 'ExitWorktree'),
  ...outside("changes the client's own settings", 'Config'),
  ...outside('sends something out of the repository', 'PushNotification', 'SendUserFile', 'SendFeedback', 'Artifact'),
  ...outside('runs a language server over the files; use grep and read', 'LSP'),
]);

const SHELL: ClientToolTranslation = { kind: 'shell', command: ['cmd', 'command'], folder: 'workdir', patches: true };

/**
 * The tools that Codex 0.169.0 offered to several models, under the names in its hooks (hooks call every shell tool
 * `Bash`). shell, local_shell, container.exec, read_file, list_dir and grep_files are of older versions.
 */
const CODEX: Table = new Map<string, ClientToolTranslation>([
  ...['Bash', 'exec_command', 'shell', 'shell_command', 'local_shell', 'container.exec'].map(
    (name): [string, ClientToolTranslation] => [name, SHELL],
  ),
  ['apply_patch', { kind: 'patch' }],
  ['view_image', { kind: 'same', tool: 'read', as: { path: 'path' }, how: 'native' }],
  [
    'read_file',
    { kind: 'same', tool: 'read', as: { file_path: 'path', offset: 'offset', limit: 'limit' }, how: 'native' },
  ],
  ['list_dir', { kind: 'same', tool: 'glob', as: { dir_path: 'path' }, fixed: { pattern: '*' }, how: 'native' }],
  [
    'grep_files',
    { kind: 'same', tool: 'grep', as: { pattern: 'pattern', path: 'path', include: 'glob' }, how: 'native' },
  ],
  ['list_mcp_resources', { kind: 'inner' }],
  ['list_mcp_resource_templates', { kind: 'inner' }],
  ...outside(READS_RESOURCE, 'read_mcp_resource'),
  ...inner('spawn_agent', 'send_input', 'send_message', 'followup_task', 'resume_agent', 'wait_agent', 'wait'),
  ...inner('close_agent', 'list_agents', 'interrupt_agent'),
  ...inner('update_plan', 'request_user_input', 'tool_search', 'get_goal', 'create_goal', 'update_goal'),
  ...outside('types into an open shell, where hopgate sees no command; run a new command', 'write_stdin'),
  ['web_search', { kind: 'search' }],
  ...outside('asks for more rights than the peripheral grants; hop to one that has them', 'request_permissions'),
  ...outside('runs a program outside of any sandbox; run it with the shell tool', 'exec'),
]);

const TABLES: { readonly [provider in ClientProvider]: Table } = {
  'claude-code': CLAUDE_CODE,
  codex: CODEX,
  mcp: new Map(),
};

/** The translation of a client's built-in tool; undefined for unknown tools and for MCP tools. */
export function translateClientTool(provider: ClientProvider, name: string): ClientToolTranslation | undefined {
  const table = TABLES[provider];
  // Codex prefixes some of its tools with a namespace.
  return table.get(name) ?? table.get(name.replace(/^(?:functions|multi_agent_v1)(?:\.|__|\/)/, ''));
}
