import type { Installer } from './installer.ts';

/** The installers of the supported client programs, by name. */
export const INSTALLERS: { readonly [client: string]: () => Promise<Installer> } = {
  claude: async () => (await import('./claude.ts')).claudeInstaller,
  codex: async () => (await import('./codex.ts')).codexInstaller,
};
