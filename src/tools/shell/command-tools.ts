import type { ScopeRule } from '../../spec/types.ts';

type CommandRule = ScopeRule['command'];

/** In which scopes a command tool of hopgate's own runs at all, and in which it does its work. */
export interface CommandTool {
  /** Anywhere else the tool itself refuses. */
  readonly runsIn: readonly CommandRule[];
  readonly worksIn: readonly CommandRule[];
  /** What a scope that it works in does. */
  readonly needs: string;
  /** What comes of it where it runs and does not work. */
  readonly otherwise: string;
}

/** A scope binds commands by what they are for; these say what each of our tools is for. */
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
    otherwise: 'whatever a command changes is dropped',
  },
  'bash-test': {
    runsIn: ['read-only', 'contained', 'test'],
    worksIn: ['test'],
    needs: 'runs tests (test-commands-only)',
    otherwise: 'its verdict counts for nothing: no result in the fruit, no tests-passed',
  },
  'bash-git': {
    runsIn: ['read-only', 'contained', 'test', 'deploy'],
    worksIn: ['deploy'],
    needs: 'ships (git-push-only)',
    otherwise: 'git only looks: add, restore, commit and push are refused',
  },
  'bash-deploy': { runsIn: ['deploy'], worksIn: ['deploy'], needs: 'ships (git-push-only)', otherwise: '' },
};
