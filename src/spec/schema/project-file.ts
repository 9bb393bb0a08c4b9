import { optional, z } from 'zod';
import { MAX_BRANCH_PATTERNS, MAX_MASKS } from '../policy/limits.ts';
import { SpecNameSchema } from './name-schema.ts';
import { RelativePathSchema, WritePathsSchema } from './path-schema.ts';
import {
  CacheFolderSchema,
  CommandWordsSchema,
  CommitTrailerSchema,
  EnvNameSchema,
  EnvTableSchema,
  FilePathSchema,
  FolderPathSchema,
  GitBranchSchema,
  GitPersonSchema,
  GitRemoteSchema,
  HostListSchema,
  HostSchema,
  MaskPatternSchema,
  ProgramNameSchema,
  RemoteUrlSchema,
  SecretProgramsSchema,
  SshFileSchema,
  SshLoginSchema,
  TextLineSchema,
  TimeoutMinutesSchema,
} from './project-values.ts';

const Credential = z.strictObject({
  env: EnvNameSchema.optional().describe(
    "For https: the variable of hopgate's own environment that holds the token or password.",
  ),
  file: FilePathSchema.optional().describe(
    'For https: the file whose first line is the token or password; outside the repository.',
  ),
  helper: CommandWordsSchema.optional().describe(
    'For https: a credential helper as a list of words, called as git calls it; it runs as you, outside the sandbox.',
  ),
  username: optional(z.string().regex(/^[^\0\r\n:]+$/, 'is not a user name')).describe(
    'With env or file: the user name; x-access-token if left out.',
  ),
  key: SshFileSchema.optional().describe('For ssh: a private key without a passphrase; outside the repository.'),
  agent: z.literal(true).optional().describe('For ssh: ask the ssh agent of SSH_AUTH_SOCK.'),
  'known-hosts': SshFileSchema.optional().describe(
    "With key or agent: the file with the host's key; ~/.ssh/known_hosts if left out.",
  ),
});

export const ServerSchema = z.strictObject({
  command: CommandWordsSchema.optional().describe(
    'The program that is started, as a list of words; it speaks MCP over its standard streams.',
  ),
  env: optional(z.record(EnvNameSchema, TextLineSchema)).describe(
    "Environment variables in addition to HOME, PATH and the like; ${NAME} is replaced by a variable of hopgate's own environment.",
  ),
  cwd: optional(z.string().regex(/^[^\0]+$/, 'is not the path of a folder: it is empty or contains NUL')).describe(
    'The folder in which it runs: relative to the root, absolute, or from ~/; default: the root.',
  ),
  url: optional(
    z
      .string()
      .regex(
        /^(?:https:\/\/[^\s@]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:[/?]\S*)?)$/,
        'is not an https:// address (http:// only on this machine), or contains a user name',
      ),
  ).describe('Instead of a command: the address of a server that speaks Streamable HTTP.'),
  headers: optional(
    z.record(z.string().regex(/^[A-Za-z0-9-]+$/, 'is not the name of a header'), TextLineSchema),
  ).describe("Headers of every request; ${NAME} is replaced by a variable of hopgate's own environment."),
  contained: optional(z.boolean()).describe(
    'True if commands that this server runs cannot reach this machine; only then may agents use its command arguments.',
  ),
});

export const InstallCommandSchema = z.strictObject({
  run: CommandWordsSchema.describe('The command as a list of words, such as [npm, ci].'),
  hosts: HostListSchema,
  scripts: z.boolean().optional().describe('Package managers may run the scripts of packages; no if left out.'),
  approval: z.boolean().optional().describe('A person must approve each run; yes if left out.'),
  env: EnvTableSchema,
  secrets: SecretProgramsSchema,
  ssh: SshLoginSchema,
  minutes: TimeoutMinutesSchema.describe('Time limit in minutes; the limit of install (15 minutes) if left out.'),
});
const InstallCommands = z.array(InstallCommandSchema);

export const TestCommandSchema = z.strictObject({
  run: CommandWordsSchema.describe('The command as a list of words; {args} marks where arguments may be added.'),
  report: optional(
    z.union([z.enum(['tap', 'none']), z.strictObject({ junit: RelativePathSchema.describe("The report's path.") })]),
  ).describe(
    'The report: tap, { junit: path }, or none (only the exit status counts, and the number of tests is unknown).',
  ),
  env: EnvTableSchema,
  minutes: TimeoutMinutesSchema.describe('Time limit in minutes; the limit of bash-test (ten minutes) if left out.'),
  memory: optional(z.union([z.number().positive().max(4096), z.literal('unlimited')])).describe(
    'Memory limit in GiB, or unlimited; 4 if left out.',
  ),
});

export const DeployCommandSchema = z.strictObject({
  run: CommandWordsSchema.describe('The command as a list of words.'),
  network: optional(z.boolean()).describe(
    'True if the command uses the network of this machine, unobserved; default: false. Prefer hosts.',
  ),
  hosts: HostListSchema,
  env: EnvTableSchema,
  secrets: SecretProgramsSchema,
  ssh: SshLoginSchema,
});

export const GitSchema = z.strictObject({
  remote: GitRemoteSchema.optional().describe('The remote that may be pushed to; no push if left out.'),
  branch: optional(z.union([GitBranchSchema, z.array(GitBranchSchema).min(1).max(MAX_BRANCH_PATTERNS)])).describe(
    'The branch that may be pushed, or a list of branches that may be created and pushed; * matches any characters but /.',
  ),
  url: RemoteUrlSchema.optional().describe("The remote's address; overrides .git/config."),
  credential: Credential.optional().describe(
    'The credential for pushes to url: one of env, file and helper (https) or key and agent (ssh). Never the secret itself.',
  ),
  ca: FilePathSchema.optional().describe("For https: a file of certificates to trust instead of the system's."),
  author: GitPersonSchema.optional().describe(
    "Author and committer of commits, as Name <address>; by default the person that git's configuration names.",
  ),
  trailer: optional(z.union([CommitTrailerSchema, z.literal(false)])).describe(
    'The line that names the agent in each commit; by default Assisted-by: AGENT. false: none.',
  ),
});

/** The authored form of `hopgate.yaml`, at a repository's root: how it is tested and shipped. Every key is optional. */
export const ProjectFile = z
  .strictObject({
    specs: RelativePathSchema.optional().describe(
      'The spec set: default, or a folder of spec files relative to the root.',
    ),
    enforce: optional(z.boolean()).describe(
      'false: calls that would be refused run, and the refusal is recorded; masks, protected names and the sandbox still apply. true if left out.',
    ),
    scopes: optional(z.record(SpecNameSchema, WritePathsSchema)).describe(
      "By peripheral: the paths that may be written in this repository, instead of the spec's: folders, files, globs (*.go, packages/*/src/), and exclusions (!dist/).",
    ),
    test: optional(z.array(TestCommandSchema)).describe('The test commands.'),
    install: optional(
      z.union([
        CommandWordsSchema,
        InstallCommands,
        z.strictObject({
          approval: z.boolean().describe('A person must approve each run of these commands.'),
          commands: InstallCommands.describe('A list of words, or a list of { run, hosts, … }.'),
        }),
      ]),
    ).describe(
      'The commands that install dependencies: a list of words, a list of { run, hosts, … }, or { approval, commands }.',
    ),
    deploy: optional(z.record(SpecNameSchema, z.union([CommandWordsSchema, DeployCommandSchema]))).describe(
      'The deploy commands by name: a list of words, or { run, hosts } for one that ships over the network.',
    ),
    git: optional(GitSchema).describe('How commits are made, and where pushes go; no push if left out.'),
    web: optional(
      z.strictObject({
        allow: z
          .array(HostSchema)
          .describe('Hosts; *.example.com for all subdomains; example.com:8443 for another port.'),
      }),
    ).describe('The hosts that web-fetch may reach; none if left out.'),
    mask: optional(z.array(MaskPatternSchema).max(MAX_MASKS, `has more than ${MAX_MASKS} patterns`)).describe(
      'Files that no tool sees, instead of the default list; the word default includes that list. A pattern without / matches at any depth; !pattern makes an exception, and a list of exceptions alone keeps the default list.',
    ),
    imports: optional(z.array(z.string().regex(/^[^\0]+$/, 'is not the path of a file'))).describe(
      'Files that instruction files (CLAUDE.md, …) may import although they are masked or lie outside the root: the client program shows them to its model.',
    ),
    toolchains: z.array(FolderPathSchema).optional().describe('Further read-only folders for the sandbox.'),
    programs: optional(z.array(ProgramNameSchema)).describe(
      'Names of your programs that commands need; they are found through your own PATH, and their installation is mounted read-only.',
    ),
    home: optional(z.number().positive().max(1024)).describe(
      'Size limit of the home folder of each command in GiB, and of its `/tmp`; both are memory. 1 if left out.',
    ),
    cache: optional(
      z.array(
        z.union([
          CacheFolderSchema,
          z.strictObject({ read: CacheFolderSchema.describe('The folder, mounted read-only.') }),
        ]),
      ),
    ).describe(
      "Folders that the test runs of a session share, empty at first, in the sandbox's home folder (~/…) or the tree; { read: ~/… } mounts your own folder instead.",
    ),
    upstream: optional(z.record(SpecNameSchema, ServerSchema)).describe(
      'MCP servers by name; a tool of tools.yaml may be bound to a tool of one. They run outside the sandbox.',
    ),
  })
  .describe('How a repository is tested and shipped.');
export type ProjectFile = z.output<typeof ProjectFile>;
