import { dirname, join } from 'node:path';
import { loadScenario } from '../../spec/load/load-scenario.ts';
import { defaultSpecsFolder } from '../../spec/load/load-specs.ts';
import { sandboxOfProcess } from '../../tools/sandbox/detect-sandbox.ts';
import type { SandboxAvailability } from '../../tools/sandbox/sandbox.ts';
import { readLiveViewScript } from '../../view/page-script.ts';
import type { CliCommand } from '../cli-command.ts';
import { type Io, print, printJsonLine, printRemark } from '../io.ts';
import { withoutShellSteps } from '../run/without-shell-steps.ts';
import { DEFAULT_HTTP_PORT, serveHttpUntilSignal } from './clients/serve.ts';
import { writeRecording } from './evidence/record.ts';
import { playScenario, prepareScenarioRepository } from './run.ts';

const NO_OVERLAY =
  'bubblewrap has no overlays here, which bash and bash-test need; use Linux 5.11 or newer, where user namespaces may mount overlays';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Plays a demo on a small repository in a temporary folder: a scripted agent finds a bug, is refused on the way, fixes the bug, tests it and pushes it. It needs git, no account and no network. It writes a page that replays the session; --open shows the live view instead. Without bubblewrap it plays the steps that need no shell.',
    )
    .option('--open', 'open the live view in the browser, and serve it until Ctrl-C')
    .examples('hopgate try', 'hopgate try --open')
    .action((options: { readonly open?: boolean }) => playDemo(io, options));
}

/** Plays the built-in demo. @param sandbox finds the sandbox of this machine; tests pass another function */
export async function playDemo(
  io: Io,
  { open = false }: { readonly open?: boolean },
  sandbox: () => Promise<SandboxAvailability> = async () => (await sandboxOfProcess()).availability,
): Promise<void> {
  const whole = await loadScenario(join(defaultSpecsFolder(), 'scenarios', 'fix-a-bug.yaml'));
  const missing = missingFor(await sandbox());
  const repository = await prepareScenarioRepository(io, whole, {});
  if (missing !== null) printRemark(io, `${missing}. The demo plays the steps that need no shell.`);
  const scenario = missing === null ? whole : withoutShellSteps(whole, repository.specs);
  const session = await playScenario(io, scenario, repository, {});
  if (!open && readLiveViewScript() !== null) {
    const { file } = await writeRecording(io, repository.root, [session], join(dirname(repository.root), 'demo.html'));
    if (io.json) printJsonLine(io, { type: 'recording', file });
    else print(io, `\nThe session as a page, for any browser: ${file}`);
  }
  if (!io.json) print(io, 'Next, in your own repository: hopgate init');
  if (open) await serveHttpUntilSignal(io, { port: DEFAULT_HTTP_PORT, open, session });
}

/** The reason why this machine cannot play the whole demo, with the remedy; null if it can. */
function missingFor(found: SandboxAvailability): string | null {
  if (!found.ok) return `${found.reason}: ${found.remedy}`;
  return found.overlay ? null : NO_OVERLAY;
}
