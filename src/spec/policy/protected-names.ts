import { splitWords } from '../../base/text.ts';

/**
 * Names that no tool of an agent may write, at any depth, whatever the scope grants: programs outside the sandbox read
 * these files and act on them as soon as a person works in the folder. Letter case, streams, trailing dots and blanks
 * never matter.
 */
export const PROTECTED_FILE_NAMES: readonly string[] = [
  // version control: each of these programs runs hooks or programs that its own folder names
  ...splitWords('.git .gitconfig .gitmodules .husky .hg .hgrc .hgsub .jj .sl .svn .bzr'),
  // agents
  ...splitWords(`
    .claude .claude.json .codex .agents .mcp.json .cursor .cursorrules .windsurf .windsurfrules .gemini .opencode
    opencode.json opencode.jsonc .clinerules .cline .roo .roomodes .kilocode .kilocodemodes .continue .aider.conf.yml
    .aider.model.settings.yml .amazonq .augment .crush .crush.json crush.json .factory .goose .goosehints .junie .kiro
    .openhands .qwen .trae .copilot
  `),
  // editors and debuggers
  ...splitWords(`
    .vscode .idea .zed .fleet .devcontainer .devcontainer.json .exrc .nvimrc .nvim.lua .lvimrc .lazy.lua .helix .nova
    .vs .gdbinit .gdbearlyinit .lldbinit
  `),
  // interpreters that run a file of the working folder when they start
  ...splitWords(`
    .rprofile .renviron .irbrc .pryrc .rdbgrc .byebugrc .ghci .iex.exs .ocamlinit .psqlrc .sqliterc .octaverc .perldb
    .pdbrc .psysh.php
  `),
  // shells, package managers and settings of a home folder
  ...splitWords(`
    .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc
    .cshrc .tcshrc .xonshrc .inputrc .envrc .direnvrc .tmux.conf .screenrc .ripgreprc .curlrc .wgetrc .npmrc .yarnrc
    .yarnrc.yml .ssh .gnupg .pam_environment
  `),
  // the agent's own limits, at any depth, because hopgate reads this file if it is started in that folder
  'hopgate.yaml',
];

/** The file that makes git use the `config` next to it; protected as the last name of a path, in this spelling. */
export const GIT_HEAD_FILE = 'HEAD';

/**
 * Consecutive names in the path of a copy of hopgate that the repository has installed: that copy answers the next
 * hook.
 */
export const HOPGATE_PACKAGE_PATHS: readonly (readonly string[])[] = [
  ['node_modules', 'hopgate'],
  ['node_modules', '.bin', 'hopgate'],
];

/** Files in which git keeps the tokens of a remote; masked whatever the configuration says. */
export const GIT_CREDENTIAL_FILES = {
  /** A name that is masked at any depth of the tree. */
  anywhere: '.git-credentials',
  /** Names that are masked at any depth of a `.git` folder. */
  inGit: ['config', 'config.worktree', 'credentials'],
} as const;
