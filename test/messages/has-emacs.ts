import { spawnSync } from 'node:child_process';

/** True if this machine has Emacs. */
export const hasEmacs = spawnSync('emacs', ['--version']).status === 0;
