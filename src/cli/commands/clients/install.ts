import { Option } from 'commander';
import { escapeInvisible } from '../../../base/text.ts';
import type { CliCommand } from '../../cli-command.ts';
import { applyInstall, withoutEqualChanges } from '../../install/apply-install.ts';
import type { FileChange, Installer, InstallPlan, InstallScope } from '../../install/installer.ts';
import { type Io, paint, print, printJson, usageError } from '../../io.ts';
import { diffLines } from '../../line-diff.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';

interface InstallOptions extends RootOption {
  readonly scope: InstallScope;
  readonly dryRun?: boolean;
}

const clientNames = (): string => Object.keys(INSTALLER_BY_CLIENT).sort().join(', ');

export function configureCommand(command: CliCommand, io: Io): void {
  const described = command.description(
    `Makes a client program (${clientNames()}) start every conversation in a session, and shows what it writes. Your other settings stay unchanged. A second run changes nothing, unless a newer hopgate writes something else.`,
  );
  addInstallAction(described, io, 'install');
}

/** Adds the argument, the options and the action that `hopgate install` and `hopgate uninstall` have in common. */
export const addInstallAction = (command: CliCommand, io: Io, what: 'install' | 'uninstall'): CliCommand =>
  command
    .argument('<client>', clientNames())
    .addOption(
      new Option('--scope <scope>', 'user: every repository of this account; project: this one')
        .choices(['project', 'user'])
        .default('user'),
    )
    .addOption(rootOption())
    .option('--dry-run', 'show the changes and write nothing')
    .examples(`hopgate ${what} claude --dry-run`, `hopgate ${what} claude --scope project`)
    .action((client: string, options: InstallOptions) => installOrUninstall(io, client, options, what));

async function installOrUninstall(
  io: Io,
  client: string,
  options: InstallOptions,
  what: 'install' | 'uninstall',
): Promise<void> {
  const installer = await installerOf(client);
  const { scope } = options;
  const plan: InstallPlan = await installer[what]({ io, root: resolveRootOption(io, options), scope });
  const changes = withoutEqualChanges(plan.changes);
  const written = options.dryRun !== true && changes.length > 0;
  if (written) applyInstall(changes, plan.keep);
  if (io.json) {
    const files = changes.map(({ path, before, after }) => ({
      path,
      change: after === null ? 'removed' : before === null ? 'created' : 'changed',
    }));
    printJson(io, { client, scope, written, files, notes: plan.notes });
    return;
  }
  showPlan(io, { changes });
  if (changes.length === 0)
    print(io, `Nothing to do: ${client} ${what === 'install' ? 'already has hopgate' : 'does not have hopgate'}.`);
  else if (!written) print(io, 'Nothing was written (--dry-run).');
  for (const note of plan.notes) print(io, note);
}

async function installerOf(client: string): Promise<Installer> {
  const load = Object.hasOwn(INSTALLER_BY_CLIENT, client) ? INSTALLER_BY_CLIENT[client] : undefined;
  if (load) return load();
  throw usageError(
    `hopgate cannot be installed into "${client}"`,
    `Name one of these: ${clientNames()}.`,
    'unknown-client',
  );
}

const INSTALLER_BY_CLIENT: { readonly [client: string]: () => Promise<Installer> } = {
  claude: async () => (await import('../../install/claude-installer.ts')).claudeInstaller,
  codex: async () => (await import('../../install/codex-installer.ts')).codexInstaller,
};

/** The longest diff to show in full. */
const MAX_LINES = 60;

function showPlan(io: Io, { changes }: Pick<InstallPlan, 'changes'>): void {
  for (const change of withoutEqualChanges(changes)) {
    print(io, paint(io, 'bold', titleOf(change)));
    for (const line of shownDiff(change))
      print(io, paint(io, line.startsWith('-') ? 'red' : 'green', `  ${escapeInvisible(line)}`));
  }
}

const titleOf = ({ path, before, after }: FileChange): string =>
  after === null ? `- ${path}` : before === null ? `+ ${path}` : `~ ${path}`;

function shownDiff({ before, after, isOwnFile = false }: FileChange): readonly string[] {
  if (isOwnFile) return [];
  const lines = diffLines(before ?? '', after ?? '').filter((line) => !line.startsWith(' '));
  return lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES), `  … ${lines.length - MAX_LINES} more`];
}
