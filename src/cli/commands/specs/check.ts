import { join } from 'node:path';
import type { Command } from 'commander';
import { type Proof, proveProperties } from '../../../audit/properties/prove.ts';
import { visible } from '../../../base/text.ts';
import { defaultBackends } from '../../../default-backends.ts';
import { maskMatcher } from '../../../gate/scope/masks.ts';
import { specsFolder } from '../../../project/open-project.ts';
import { CONFIG_FILE } from '../../../project/root.ts';
import { SpecError, type SpecIssue, type SpecWarning } from '../../../spec/check/issues.ts';
import { DEFAULT_PROJECT_CONFIG, loadProjectConfig } from '../../../spec/load/load-project-config.ts';
import { lintSpecs, loadSpecs } from '../../../spec/load/load-specs.ts';
import { suggest } from '../../../spec/names.ts';
import type { ProjectConfig, SpecSet } from '../../../spec/types.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { lintServed, lintTools } from '../../../tools/lint-tools.ts';
import { namedSpecs } from '../../chosen-specs.ts';
import { type Io, paint, print, printJson } from '../../io.ts';
import { examples, rootOf, rootOption } from '../../options.ts';
import { askGit } from '../../run-program.ts';

interface Options {
  readonly root: string;
}

export function register(command: Command, io: Io): void {
  command
    .description(
      'Checks the specs (default: those that hopgate.yaml names) and hopgate.yaml, and prints all problems at once. Warns of rules without effect (a hop that leads nowhere, a tool that its scope always refuses or that no backend runs), and of masked files that git tracks. Exit code 1 for a problem, or for a property that does not hold.',
    )
    .argument('[path]', 'a spec folder, or one spec file')
    .addOption(rootOption())
    .addHelpText('after', examples('hopgate check', 'hopgate check specs', 'hopgate check --json'))
    .action((path: string | undefined, options: Options) => check(io, path, options));
}

async function check(io: Io, path: string | undefined, options: Options): Promise<void> {
  const root = rootOf(io, options);
  const issues: SpecIssue[] = [];
  const config = (await collect(issues, () => loadProjectConfig(root)))?.config ?? DEFAULT_PROJECT_CONFIG;
  const folder = path === undefined ? specsFolder(root, config) : namedSpecs(io, path);
  const specs = await collect(issues, () => loadSpecs(folder));
  if (specs !== null && path === undefined) issues.push(...unknownScopes(root, config, specs));
  if (specs === null || issues.length > 0) throw new SpecError(issues);
  const { upstream } = config;
  const warnings = [
    ...lintSpecs(specs),
    ...lintTools(specs),
    ...lintServed(specs, { served: ownTools(), ...(upstream ? { upstream } : {}) }),
  ];
  const tracked = await maskedButTracked(root, config, io);
  const proofs = proveProperties(specs);
  // The warnings already include exits without a binding.
  const broken = proofs.filter(({ holds, property }) => !holds && property !== 'bound');
  if (broken.length > 0) io.exitCode = 1;

  if (io.json) {
    printJson(io, {
      ok: broken.length === 0,
      specs: folder,
      hash: specs.hash,
      counts: counts(specs),
      warnings,
      properties: proofs,
      maskedButTracked: tracked,
    });
    return;
  }
  const { peripherals, tools, edges } = counts(specs);
  const gate = specs.modeGate === null ? 'no mode gate' : 'a mode gate';
  print(
    io,
    `${broken.length === 0 ? paint(io, 'green', 'ok') : paint(io, 'red', 'broken')}  ${peripherals} peripherals, ${tools} tools, ${edges} edges, ${gate} (${folder})`,
  );
  printProofs(io, proofs, broken);
  for (const warning of warnings) print(io, warningLine(io, warning));
  for (const file of tracked)
    print(
      io,
      `${paint(io, 'yellow', 'warning')}  ${visible(file)} is masked, but git tracks it: its history shows it to anyone who clones (if it holds no secret, make an exception: mask: ["!${visible(file)}"])`,
    );
}

/** The tools that hopgate runs by itself. */
const ownTools = (): ReadonlySet<string> =>
  new Set(
    defaultBackends(memoryStore({ clock: { now: () => 0 } }), { unsafeNoSandbox: false }).flatMap(({ tools }) => tools),
  );

async function collect<T>(issues: SpecIssue[], load: () => Promise<T>): Promise<T | null> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    issues.push(...error.issues);
    return null;
  }
}

const unknownScopes = (root: string, { scopes }: ProjectConfig, { peripherals }: SpecSet): readonly SpecIssue[] =>
  Object.keys(scopes)
    .filter((id) => !Object.hasOwn(peripherals, id))
    .map((id) => ({
      file: join(root, CONFIG_FILE),
      path: `scopes.${id}`,
      message: `there is no peripheral "${id}"`,
      suggestion: suggest(id, Object.keys(peripherals)),
    }));

const counts = ({ peripherals, tools, edges }: SpecSet) => ({
  peripherals: Object.keys(peripherals).length,
  tools: Object.keys(tools).length,
  edges: edges.length,
});

function printProofs(io: Io, proofs: readonly Proof[], broken: readonly Proof[]): void {
  const held = proofs.filter(({ holds }) => holds).length;
  if (held > 0 && broken.length === 0)
    print(io, `${paint(io, 'green', 'proved')}  ${held} properties of every session`);
  for (const { property, message, path } of broken) {
    print(io, `${paint(io, 'red', 'broken')}  ${property}: ${message}`);
    for (const step of path ?? []) print(io, `        ${step}`);
  }
}

const warningLine = (io: Io, { path, message, suggestion }: SpecWarning): string =>
  `${paint(io, 'yellow', 'warning')}  ${path}: ${message}${suggestion ? `; ${suggestion}` : ''}`;

async function maskedButTracked(root: string, config: ProjectConfig, io: Io): Promise<readonly string[]> {
  const files = (await askGit(root, ['ls-files', '-z'], io.env['PATH'])) ?? '';
  return files.split('\0').filter(maskMatcher(config.mask));
}
