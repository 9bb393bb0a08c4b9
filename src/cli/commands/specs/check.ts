import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type PropertyProof, proveAndFindWarnings } from '../../../audit/properties/prove-properties.ts';
import { isPathWithin } from '../../../base/paths.ts';
import { escapeInvisible, plural, toShellWord } from '../../../base/text.ts';
import { defaultBackends } from '../../../default-backends.ts';
import { effectiveScope } from '../../../gate/decide-step.ts';
import { DENIAL_CODES } from '../../../gate/denial.ts';
import { compileMasks } from '../../../gate/scope/masks.ts';
import { writePathReason } from '../../../gate/scope/write-paths.ts';
import { specsFolder } from '../../../project/open-project.ts';
import { CONFIG_FILE } from '../../../project/repository-root.ts';
import { checkScenario } from '../../../spec/check/check-scenario.ts';
import { lintSpecs } from '../../../spec/check/lint-specs.ts';
import { SpecError, type SpecProblem, type SpecWarning } from '../../../spec/check/spec-problem.ts';
import { loadProjectConfig } from '../../../spec/load/load-project-config.ts';
import { loadScenario } from '../../../spec/load/load-scenario.ts';
import { defaultSpecsFolder, loadSpecs } from '../../../spec/load/load-specs.ts';
import { describeSimilarName } from '../../../spec/names.ts';
import { isExcludingPattern } from '../../../spec/path-patterns.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../../spec/resolve/parse-project-config.ts';
import type { ProjectConfig, SpecSet } from '../../../spec/types.ts';
import { memoryStore } from '../../../stores/memory.ts';
import { warnOfUnservedTools, warnOfUnusableTools } from '../../../tools/lint-tools.ts';
import { resolveSpecsOption } from '../../choose-specs.ts';
import type { CliCommand } from '../../cli-command.ts';
import { unmaskPatternOf } from '../../detect/files-to-unmask.ts';
import { diagnoseEvidence } from '../../doctor/diagnose-databases.ts';
import { diagnoseMissingPrograms } from '../../doctor/diagnose-programs.ts';
import type { Diagnosis } from '../../doctor/diagnosis.ts';
import { diagnoseGit, diagnoseRemote } from '../../doctor/examine-machine.ts';
import { CliError, type Io, paint, print, printJson } from '../../io.ts';
import { askGit, runProgram } from '../../run-program.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Checks the specs (default: those that hopgate.yaml names) and hopgate.yaml, and prints all problems at once. Warns of rules without effect (a hop that leads nowhere, a tool that its scope always refuses or that no backend runs), of masked files that git tracks, of globs in a scope that match no file, and of missing programs, toolchains, remotes or damaged evidence. Exit code 1 for a problem, or for a property that does not hold.',
    )
    .argument('[path]', 'a spec folder, or one spec file')
    .addOption(rootOption())
    .examples('hopgate check', 'hopgate check specs', 'hopgate check --json')
    .action((path: string | undefined, options: RootOption) => check(io, path, options));
}

async function check(io: Io, path: string | undefined, options: RootOption): Promise<void> {
  if (path !== undefined) refuseOtherFile(resolve(io.cwd, path));
  const root = resolveRootOption(io, options);
  const problems: SpecProblem[] = [];
  const config = (await collect(problems, () => loadProjectConfig(root)))?.config ?? DEFAULT_PROJECT_CONFIG;
  const folder = path === undefined ? specsFolder(root, config) : resolveSpecsOption(io, path);
  const specs = await collect(problems, () => loadSpecs(folder));
  if (specs !== null && path === undefined) problems.push(...unknownScopes(root, config, specs));
  if (specs !== null) problems.push(...(await scenarioProblems(folder, specs)));
  if (specs === null || problems.length > 0) throw new SpecError(problems);
  const { upstream } = config;
  const warnings: SpecWarning[] = [
    ...lintSpecs(specs),
    ...warnOfUnusableTools(specs),
    ...warnOfUnservedTools(specs, { served: ownTools(), ...(upstream ? { upstream } : {}) }),
  ];
  const files = await filesOf(root, io);
  const tracked = files.tracked.filter(compileMasks(config.mask));
  // Specs outside of this repository are meant for other repositories.
  if (path === undefined || isPathWithin(root, folder)) warnings.push(...unmatchedGlobs(specs, config, files.all));
  if (path === undefined) warnings.push(...openMasks(config));
  const machine = path === undefined ? await missingOnMachine(root, config, io) : [];
  const { proofs, notes } = proveAndFindWarnings(specs);
  warnings.push(...notes);
  // The warnings already name the exits that the property `bound` is about.
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
      missing: machine,
    });
    return;
  }
  const { peripherals, tools, edges } = counts(specs);
  const gate = specs.modeGate === null ? 'no mode gate' : 'a mode gate';
  print(
    io,
    `${broken.length === 0 ? paint(io, 'green', 'ok') : paint(io, 'red', 'broken')}  ${plural(peripherals, 'peripheral')}, ${plural(tools, 'tool')}, ${plural(edges, 'edge')}, ${gate} (${folder})`,
  );
  printProofs(io, proofs, broken);
  for (const warning of warnings) print(io, warningLine(io, warning));
  for (const { name, found, fix } of machine)
    print(io, `${paint(io, 'yellow', 'warning')}  ${name}: ${escapeInvisible(found)}${fix ? `. ${fix}` : ''}`);
  for (const file of tracked.slice(0, MAX_TRACKED))
    print(
      io,
      `${paint(io, 'yellow', 'warning')}  ${escapeInvisible(file)} is masked, but git tracks it: its history shows it to anyone who clones (if it holds no secret, make an exception: mask: [default, "${escapeInvisible(unmaskPatternOf(file))}"])`,
    );
  if (tracked.length > MAX_TRACKED)
    print(
      io,
      `${paint(io, 'yellow', 'warning')}  ${tracked.length - MAX_TRACKED} more files that git tracks are masked ("hopgate check --json" lists them)`,
    );
}

/** Maximum number of masked files that are named one by one. */
const MAX_TRACKED = 5;

/** The tools that hopgate runs by itself. */
const ownTools = (): ReadonlySet<string> =>
  new Set(
    defaultBackends(memoryStore({ clock: { now: () => 0 } }), { unsafeNoSandbox: false }).flatMap(({ tools }) => tools),
  );

/** @throws CliError `not-a-spec` for a file that is not part of a spec set: it would be read as a peripheral */
function refuseOtherFile(file: string): void {
  const folder = dirname(file);
  if (basename(file) === CONFIG_FILE)
    throw new CliError(
      'not-a-spec',
      `${file} is not a spec file`,
      `Check it with "hopgate check --root ${toShellWord(folder)}".`,
    );
  if (basename(folder) === 'scenarios' && /\.ya?ml$/.test(file))
    throw new CliError(
      'not-a-spec',
      `${file} is a scenario, not a spec file`,
      `Check it together with its spec set: hopgate check ${toShellWord(dirname(folder))}`,
    );
}

async function collect<T>(problems: SpecProblem[], load: () => Promise<T>): Promise<T | null> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    problems.push(...error.issues);
    return null;
  }
}

async function scenarioProblems(path: string, specs: SpecSet): Promise<readonly SpecProblem[]> {
  const folder = join(path === 'default' ? defaultSpecsFolder() : path, 'scenarios');
  const names = await readdir(folder).catch(() => []);
  const problems: SpecProblem[] = [];
  for (const name of names.filter((each) => /\.ya?ml$/.test(each)).sort()) {
    const file = join(folder, name);
    const scenario = await collect(problems, () => loadScenario(file));
    if (scenario) problems.push(...checkScenario(file, scenario, specs, DENIAL_CODES));
  }
  return problems;
}

const unknownScopes = (root: string, { scopes }: ProjectConfig, { peripherals }: SpecSet): readonly SpecProblem[] =>
  Object.keys(scopes)
    .filter((id) => !Object.hasOwn(peripherals, id))
    .map((id) => ({
      file: join(root, CONFIG_FILE),
      path: `scopes.${id}`,
      message: `there is no peripheral "${id}"`,
      suggestion: describeSimilarName(id, Object.keys(peripherals)),
    }));

const counts = ({ peripherals, tools, edges }: SpecSet) => ({
  peripherals: Object.keys(peripherals).length,
  tools: Object.keys(tools).length,
  edges: edges.length,
});

function printProofs(io: Io, proofs: readonly PropertyProof[], broken: readonly PropertyProof[]): void {
  const held = proofs.filter(({ holds }) => holds).length;
  if (held > 0 && broken.length === 0)
    print(io, `${paint(io, 'green', 'proved')}  ${held} properties of every session`);
  for (const { property, message, path } of broken) {
    print(io, `${paint(io, 'red', 'broken')}  ${property}: ${message}`);
    for (const step of path ?? []) print(io, `        ${step}`);
  }
}

const warningLine = (io: Io, { code, path, message, suggestion }: SpecWarning): string =>
  `${code === 'operator-only' ? paint(io, 'dim', 'note   ') : paint(io, 'yellow', 'warning')}  ${path}: ${message}${suggestion ? `; ${suggestion}` : ''}`;

/** The programs and folders that the configuration names and that are missing or damaged. */
async function missingOnMachine(root: string, config: ProjectConfig, io: Io): Promise<readonly Diagnosis[]> {
  const all = [
    await diagnoseGit(io, runProgram),
    ...(await diagnoseRemote(root, io, config)),
    ...diagnoseEvidence(root, io),
    ...diagnoseMissingPrograms(root, config, io),
  ];
  return all.filter(({ status }) => status !== 'ok');
}

/** Warns of globs in the write paths that match no file of the repository. */
function unmatchedGlobs(specs: SpecSet, config: ProjectConfig, files: readonly string[]): readonly SpecWarning[] {
  if (files.length === 0) return [];
  return Object.keys(specs.peripherals).flatMap((id) =>
    effectiveScope(specs, config, id)
      .write.filter((glob) => /[*?[{]/.test(glob) && !isExcludingPattern(glob) && glob !== PROPOSED_GLOB)
      .filter((glob) => {
        const write = [glob];
        return files.every((file) => writePathReason(file, write) !== null);
      })
      .map((glob) => ({
        code: 'glob-matches-nothing',
        path: `scopes.${id}`,
        message: `"${escapeInvisible(glob)}" matches no file`,
        suggestion: 'a glob is relative to the root, and * stays within one folder: use **/ for files at any depth',
      })),
  );
}

/** Warns of masks that hide no file: an empty list, or an exception that matches every path. */
function openMasks({ mask }: ProjectConfig): readonly SpecWarning[] {
  const isAll = (pattern: string) => isExcludingPattern(pattern) && !compileMasks(['*', pattern])(PROBE_PATH);
  const last = mask.findLastIndex(isAll);
  if (!mask.slice(last + 1).every(isExcludingPattern)) return [];
  return [
    {
      code: 'masks-nothing',
      path: 'mask',
      message:
        last < 0
          ? 'the list is empty, so no file is masked'
          : `"${mask[last]}" matches every path, so no file is masked`,
      suggestion: 'make exceptions only for files without secrets: mask: [default, "!test/fixtures/**"]',
    },
  ];
}

/** An unusual path: a pattern that matches it matches every path. */
const PROBE_PATH = '\u{1}/\u{2}.\u{3}';

/** "hopgate init" proposes README.md even if it does not exist yet. */
const PROPOSED_GLOB = '*.md';

/** The files that git tracks, and in `all` also the others that it does not ignore; empty without git. */
async function filesOf(root: string, io: Io) {
  const ask = async (...flags: readonly string[]) =>
    ((await askGit(root, ['ls-files', '-z', ...flags], io.env['PATH'])) ?? '').split('\0').filter(Boolean);
  const tracked = await ask();
  return { tracked, all: [...tracked, ...(await ask('--others', '--exclude-standard'))] };
}
