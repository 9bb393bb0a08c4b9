/** The report format of a test command. With `none`, the exit status decides and the number of tests is unknown. */
export type TestReportFormat = 'tap' | 'none' | { readonly junit: string };

/**
 * An MCP server that tools may be bound to: a program that hopgate starts, or an address. `${NAME}` in a value names a
 * variable of hopgate's own environment, which is substituted only when the server is started.
 */
export type UpstreamServer = {
  /** The operator's statement that commands run by the server cannot reach this machine. */
  readonly contained: boolean;
} & (
  | {
      readonly command: readonly string[];
      readonly env: { readonly [name: string]: string };
      /** The server's working folder: relative to the root, absolute, or `~/…`; null means the root. */
      readonly cwd: string | null;
    }
  | { readonly url: string; readonly headers: { readonly [name: string]: string } }
);

/**
 * The credential of a push: its location, never its value, because this config is pinned with each session. `helper` is
 * called like one of git's credential helpers. Paths are absolute, or begin with `~/`.
 */
export type GitCredential =
  | { readonly kind: 'env'; readonly name: string; readonly username: string }
  | { readonly kind: 'file'; readonly path: string; readonly username: string }
  | { readonly kind: 'helper'; readonly command: readonly string[] }
  | { readonly kind: 'key'; readonly path: string; readonly knownHosts: string }
  | { readonly kind: 'agent'; readonly knownHosts: string };

/** The target of pushes. Without `url`, the remote's address comes from the repository's own configuration. */
export interface GitConfig {
  readonly remote: string;
  /** The branch to push, or patterns of the branches that may be created and pushed. */
  readonly branch: string | readonly string[];
  readonly url?: string;
  readonly credential?: GitCredential;
  /** A file of certificates (PEM) to trust instead of the system's. */
  readonly ca?: string;
}

/** How commits are made; from `git` in hopgate.yaml. */
export interface CommitConfig {
  /** Author and committer, as `Name <address>`; by default the person that git names. */
  readonly author?: string;
  /** The line that names the agent in a commit message; false for none. By default `Assisted-by`. */
  readonly trailer?: string | false;
}

/** Variables of a command; `${NAME}` in a value is replaced by the operator's environment variable. */
export type CommandVariables = { readonly [name: string]: string };

/** The network, the secrets and the ssh login that a configured command gets. */
export interface CommandAccess {
  /** The only hosts that the command can reach, through hopgate's proxy: `host`, `*.host`, `host:port`. */
  readonly hosts?: readonly string[];
  readonly env?: CommandVariables;
  /** By variable: the operator's program that prints the value, as a list of words. */
  readonly secrets?: { readonly [name: string]: readonly string[] };
  /** The operator's files with which ssh logs in. */
  readonly ssh?: { readonly key: string; readonly knownHosts: string };
}

export interface InstallCommand extends CommandAccess {
  readonly run: readonly string[];
  /** True if package managers may run the scripts of packages. */
  readonly scripts: boolean;
  /** True if an operator must approve each run. */
  readonly approval: boolean;
  /** Time limit in minutes, instead of the tool's own limit. */
  readonly minutes?: number;
}

export interface TestCommand {
  readonly run: readonly string[];
  readonly report: TestReportFormat;
  readonly env?: CommandVariables;
  /** Time limit in minutes, instead of the tool's own limit. */
  readonly minutes?: number;
  /** Memory limit in GiB, instead of the sandbox's default. */
  readonly memory?: number | 'unlimited';
}

/** `hopgate.yaml` at a repository's root: how it is tested and shipped. Resolved: every key is present. */
export interface ProjectConfig {
  /** The spec set: `default`, or a folder relative to the root. */
  readonly specs: string;
  /** By peripheral: write paths that replace the write paths of the spec. */
  readonly scopes: { readonly [peripheral: string]: readonly string[] };
  readonly test: readonly TestCommand[];
  /** Deploy commands by name. With `network: true` the network is open and unobserved; otherwise only `hosts`. */
  readonly deploy: {
    readonly [name: string]: CommandAccess & { readonly run: readonly string[]; readonly network: boolean };
  };
  /** The commands that install dependencies; absent if none is configured. */
  readonly install?: readonly InstallCommand[];
  /** The target of pushes; null if nothing is pushed. */
  readonly git: GitConfig | null;
  readonly commits?: CommitConfig;
  readonly web: { readonly allow: readonly string[] };
  readonly mask: readonly string[];
  /** Files that instructions may import though masked or outside the root: root-relative, `~/…` or absolute. */
  readonly imports?: readonly string[];
  readonly toolchains: readonly string[];
  /** Names of the operator's programs that commands need, in addition to the program that each command begins with. */
  readonly programs?: readonly string[];
  /** Size limit of the home folder of each command and of its `/tmp`, in GiB, instead of the sandbox's default. */
  readonly home?: number;
  /**
   * Folders for caches: with `read: true` the operator's own folder, read-only; otherwise a folder that the test runs
   * share.
   */
  readonly cache?: readonly { readonly folder: string; readonly read: boolean }[];
  /** The MCP servers by name; absent if none is configured. */
  readonly upstream?: { readonly [server: string]: UpstreamServer };
  /** Present if refused calls run all the same and the refusal is only recorded; absent if refused calls do not run. */
  readonly enforce?: false;
}
