import type { ScopeRule } from '../types.ts';

type CommandRule = ScopeRule['command'];

/** The scopes in which one of hopgate's command tools runs, and the scopes in which it is useful. */
export interface CommandTool {
  /** The kind of command that the tool runs: a line for a shell, one of the configured commands, or a git command. */
  readonly runs: 'a shell' | 'tests' | 'installs' | 'deployments' | 'git';
  /** The argument from which the tool's backend reads the command. */
  readonly argument: 'command' | 'sub' | 'name';
  /** True if the tool runs only on a throwaway overlay of the tree, for which the kernel needs overlayfs. */
  readonly needsOverlay: boolean;
  /** The `command` rules of the scopes in which the tool runs. In any other scope it is refused. */
  readonly runsIn: readonly CommandRule[];
  readonly worksIn: readonly CommandRule[];
  /** The permission that a scope must give for the tool to be useful, as a phrase. */
  readonly needs: string;
  /** The consequence of a run in another scope, as a phrase. */
  readonly otherwise: string;
}

const ANY_SHELL = {
  runs: 'a shell',
  argument: 'command',
  runsIn: ['read-only', 'contained'],
  worksIn: ['read-only', 'contained'],
  needs: 'runs commands (full-codebase, or paths)',
  otherwise: '',
} as const;

export const INSTALL_TOOL_ID = 'install';

/** The tool that starts, reads and stops commands in the background. */
export const BACKGROUND_TOOL_ID = 'bash-background';

/** hopgate's own command tools, by id. */
export const COMMAND_TOOLS: { readonly [id: string]: CommandTool } = {
  'bash-readonly': { ...ANY_SHELL, needsOverlay: false },
  [BACKGROUND_TOOL_ID]: { ...ANY_SHELL, needsOverlay: true },
  bash: {
    runs: 'a shell',
    argument: 'command',
    needsOverlay: true,
    runsIn: ['read-only', 'contained'],
    worksIn: ['contained'],
    needs: 'lets commands write (paths)',
    otherwise: 'all changes of a command are dropped',
  },
  [INSTALL_TOOL_ID]: {
    runs: 'installs',
    argument: 'command',
    needsOverlay: true,
    runsIn: ['contained'],
    worksIn: ['contained'],
    needs: 'lets commands write (paths)',
    otherwise: '',
  },
  'bash-test': {
    runs: 'tests',
    argument: 'command',
    needsOverlay: true,
    runsIn: ['read-only', 'contained', 'test'],
    worksIn: ['test'],
    needs: 'runs tests (test-commands-only)',
    otherwise: 'its verdict is not recorded: no result in the fruit, no tests-passed',
  },
  'bash-git': {
    runs: 'git',
    argument: 'sub',
    needsOverlay: false,
    runsIn: ['read-only', 'contained', 'test', 'deploy'],
    worksIn: ['deploy'],
    needs: 'ships (git-push-only)',
    otherwise: 'git is read-only: add, restore, commit and push are refused',
  },
  'bash-deploy': {
    runs: 'deployments',
    argument: 'name',
    needsOverlay: false,
    runsIn: ['deploy'],
    worksIn: ['deploy'],
    needs: 'ships (git-push-only)',
    otherwise: '',
  },
};
