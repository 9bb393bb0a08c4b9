import type { ScopeRule } from '../../spec/types.ts';

type CommandRule = ScopeRule['command'];

/** The scopes in which one of hopgate's command tools runs, and those in which it is useful. */
export interface CommandTool {
  /** Anywhere else the tool itself refuses. */
  readonly runsIn: readonly CommandRule[];
  readonly worksIn: readonly CommandRule[];
  /** The permission of a scope with which the tool is useful, as a phrase. */
  readonly needs: string;
  /** The consequence if it runs in another scope, as a phrase. */
  readonly otherwise: string;
}

/** Scopes restrict commands by purpose; this table gives the purpose of each tool. */
export const COMMAND_TOOLS: { readonly [id: string]: CommandTool } = {
  'bash-readonly': {
    runsIn: ['read-only', 'contained'],
    worksIn: ['read-only', 'contained'],
    needs: 'runs commands (full-codebase, or paths)',
    otherwise: '',
  },
  bash: {
    runsIn: ['read-only', 'contained'],
    worksIn: ['contained'],
    needs: 'lets commands write (paths)',
    otherwise: 'all changes of a command are dropped',
  },
  install: {
    runsIn: ['contained'],
    worksIn: ['contained'],
    needs: 'lets commands write (paths)',
    otherwise: '',
  },
  'bash-test': {
    runsIn: ['read-only', 'contained', 'test'],
    worksIn: ['test'],
    needs: 'runs tests (test-commands-only)',
    otherwise: 'its verdict is not recorded: no result in the fruit, no tests-passed',
  },
  'bash-git': {
    runsIn: ['read-only', 'contained', 'test', 'deploy'],
    worksIn: ['deploy'],
    needs: 'ships (git-push-only)',
    otherwise: 'git is read-only: add, restore, commit and push are refused',
  },
  'bash-deploy': { runsIn: ['deploy'], worksIn: ['deploy'], needs: 'ships (git-push-only)', otherwise: '' },
};
