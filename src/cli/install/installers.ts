import type { Installer } from './installer.ts';

/** The client programs that hopgate can be installed into, by name. */
export const INSTALLERS: { readonly [client: string]: () => Promise<Installer> } = {
  claude: async () => (await import('./claude.ts')).claudeInstaller,
  codex: async () => (await import('./codex.ts')).codexInstaller,
};
