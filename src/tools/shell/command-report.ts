import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { listFolderEntries, lstatIfAny } from '../../base/files.ts';
import { isPathWithin } from '../../base/paths.ts';
import { findProgram } from '../../base/process.ts';
import { printFirstPaths } from '../../gate/scope/compare-trees.ts';
import type { ObservedEffects, ToolReport } from '../../ports/tool-backend.ts';
import type { Fields, Json } from '../../spec/types.ts';
import { findRepository } from '../git/repository.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';
import { isStop } from '../workspace/tool-stop.ts';
import { toolCacheFolderOf } from './changed-code.ts';
import { DELETED_REASON_PREFIX, type DroppedChange } from './judge-change.ts';
import { describeMissingCargoLock, describeMissingImport, describeMissingPackages } from './missing-packages.ts';
import type { ShellContext } from './shell-context.ts';

/** Maximum number of listed changes. A longer list usually comes from a build and would not help. */
const MAX_DROPPED = 100;

/**
 * The fields that list the dropped changes. Build outputs and caches are only listed; other changes cause a warning.
 */
export function droppedChangesField(all: readonly DroppedChange[]): Fields {
  const output = ({ path, why, isOutput }: DroppedChange) =>
    isOutput ? path : why.startsWith(DELETED_REASON_PREFIX) ? null : toolCacheFolderOf(path);
  const outputs = [...new Set(all.map(output))].filter((each) => each !== null);
  return {
    ...warningOf(all.filter((each) => output(each) === null)),
    ...(outputs.length > 0 ? { droppedOutputs: outputs.slice(0, MAX_DROPPED) } : {}),
  };
}

function warningOf(dropped: readonly DroppedChange[]): Fields {
  if (dropped.length === 0) return {};
  const groups = [...Map.groupBy(dropped, ({ why }) => why)].map(
    ([why, all]) => `${printFirstPaths(all.map(({ path }) => path))} (${why})`,
  );
  return {
    warning: `Not kept: ${printFirstPaths(groups)}.`,
    dropped: dropped.slice(0, MAX_DROPPED).map(({ path, why }) => ({ path, why })),
    ...(dropped.length > MAX_DROPPED ? { droppedInAll: dropped.length } : {}),
  };
}

/** The report of a command that ran. Without a sandbox, its effects were not observed, and the result says so. */
export function makeCommandReport(
  context: ShellContext,
  result: CommandResult,
  effects: ObservedEffects,
  more: Fields = {},
): ToolReport {
  // The warning is the result's first field, so that a reader does not take the exit status for success.
  const { warning, ...fields } = more;
  const missing = missingPackagesRemedy(context, result);
  const { remedy: _, ...withoutRemedy } = fields;
  const json = {
    ...(warning === undefined ? {} : { warning }),
    ...commandJson(result),
    ...networkRemedy(context, result),
    ...maskedFilesRemedy(context),
    ...hiddenProgramRemedy(context, result),
    ...hiddenStoreRemedy(context, result),
    ...linkedPackageRemedy(context, result),
    ...repositoryRemedy(context, result),
    ...watchRemedy(result),
    ...(missing === null ? fields : { ...withoutRemedy, notShown: missing }),
    ...(context.sandboxed ? {} : { unsandboxed: true }),
  };
  const observed = context.sandboxed ? effects : 'unobserved';
  if (!result.aborted) return { outcome: { status: 'ok', result: json }, effects: observed };
  const message = 'The call was aborted; all of its processes were killed.';
  return { outcome: { status: 'failed', code: 'aborted', message, result: json }, effects: observed };
}

/** Messages of failed name resolution or a missing network; some programs print them and exit with 0. */
const NO_NETWORK = /name resolution|could not resolve host|network is unreachable|EAI_AGAIN|ENETUNREACH/i;

/** The remedy if the kernel blocked the command from the network, and it failed or printed a network error. */
function networkRemedy({ call }: ShellContext, result: CommandResult): { [key: string]: Json } {
  const { exit, networkTries = 0, stdout, stderr } = result;
  if (networkTries === 0 || (exit === 0 && !NO_NETWORK.test(`${stdout}\n${stderr}`))) return {};
  const advice = describeMissingCargoLock(call.envelope.root, stderr) ?? installAdvice(call);
  return { noNetwork: `There is no network here, and the command tried to reach one. ${advice}` };
}

const installAdvice = (
  { envelope: { config } }: ShellContext['call'],
  otherwise = 'If it installs dependencies, ask the operator to run it',
): string =>
  config.install
    ? 'Dependencies are installed by the tool install, in a peripheral that has it.'
    : `${otherwise}, or to set install: in hopgate.yaml.`;

/**
 * Messages of shells, Node and PHP if a program or a package was not found. A missing file counts only in the folder
 * of the packages: `mv` and `cat` print the same words for any file. The lengths are limited, because a line of a
 * command's output can be a megabyte long.
 */
const NOT_FOUND =
  /command not found|: not found$|cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|\bclass\b.{1,200} not found|\b(?:node_modules|vendor)\/.{0,500}(?:no such file|failed to open stream)/im;

/** Messages of Bundler, Cargo, Maven, Gradle and Composer if a package is not installed. */
const NO_PACKAGE =
  /Bundler::GemNotFound|could not find (?:gem|\S+ in (?:any of the sources|cached gems|locally installed gems))|\b(?:using|in|for) offline mode\b|\bnetwork (?:is )?disabled\b/i;

/** The remedy for a command that failed because packages were never installed; null otherwise. */
function missingPackagesRemedy({ call }: ShellContext, { exit, stdout, stderr }: CommandResult): string | null {
  const output = `${stdout}\n${stderr}`;
  if (exit === 0) return null;
  const missing =
    (NOT_FOUND.test(output) && describeMissingPackages(call.envelope.root)) ||
    (NO_PACKAGE.test(output) && 'A package that the command needs is not installed here.') ||
    describeMissingImport(call.envelope.root, output);
  return missing ? `${missing} ${installAdvice(call, 'Ask the operator to install what is missing')}` : null;
}

/** Messages of programs that run again after each change of a file: vitest, Jest, tsc, webpack, nodemon. */
const WATCHES = /waiting for file changes|watching for (?:file )?changes|watch usage|watch mode|\[nodemon\] watching/i;

/** The remedy for a command that watched files until its time limit. */
function watchRemedy({ timedOut, stdout, stderr }: CommandResult): { [key: string]: Json } {
  if (!timedOut || !WATCHES.test(`${stdout}\n${stderr}`)) return {};
  return {
    remedy:
      'The command waited for changes of files. Put CI=1 before it, or use its option that makes it run only once.',
  };
}

/** Messages of pnpm if it finds another store: it would replace node_modules, or a package is missing. */
const NO_STORE = /confirmModulesPurge|ERR_PNPM_(?:UNEXPECTED_STORE|MISSING_PACKAGE_INDEX_FILE|NO_OFFLINE_TARBALL)/;

/** The remedy for pnpm without the operator's store, which it needs to compare node_modules with the lock file. */
function hiddenStoreRemedy(
  { call, sandboxed }: ShellContext,
  { exit, stdout, stderr }: CommandResult,
): { [key: string]: Json } {
  if (exit === 0 || !sandboxed || !NO_STORE.test(`${stdout}\n${stderr}`)) return {};
  return { notShown: `pnpm's store of the operator is not shown here. ${installAdvice(call)}` };
}

/** The remedy for a program that is on the operator's PATH and not in the sandbox. */
function hiddenProgramRemedy(
  { env, sandboxed }: ShellContext,
  { exit, stderr }: CommandResult,
): { [key: string]: Json } {
  const [, name] = /(?:^|[:\s])([\w.+-]+): (?:command )?not found$/m.exec(stderr) ?? [];
  if (exit === 0 || !sandboxed || name === undefined || findProgram(name, env['PATH']) === null) return {};
  return {
    notShown: `${name} is a program of the operator that the sandbox does not show. Ask the operator to add it to programs: in hopgate.yaml.`,
  };
}

/** The masked files that a command read or named, and the remedy. */
function maskedFilesRemedy({ emptyFiles }: ShellContext): { [key: string]: Json } {
  if (emptyFiles.size === 0) return {};
  const remedy = 'If they hold no secrets, ask the operator for an exception in mask of hopgate.yaml ("!path").';
  return { masked: `Empty here, because they are masked: ${printFirstPaths([...emptyFiles], 10)}. ${remedy}` };
}

/** The remedy for a package that a failed command named and that is a link out of the repository (`npm link`). */
function linkedPackageRemedy({ call, sandboxed }: ShellContext, result: CommandResult): { [key: string]: Json } {
  if (result.exit === 0 || !sandboxed) return {};
  const words = `${result.stdout}\n${result.stderr}`.split(/[\s"'`()<>=,;]+/);
  const { root } = call.envelope;
  const found = linksIn(join(root, 'node_modules')).find(
    ({ name, to }) => !isPathWithin(root, to) && words.some((word) => word === name || word.startsWith(`${name}/`)),
  );
  if (!found) return {};
  return {
    linkedOutside: `node_modules/${found.name} leads to ${found.to}, and commands see only the repository. Ask the operator to install a copy (npm install --install-links ${found.to}), or to list that folder under toolchains: in hopgate.yaml.`,
  };
}

/** The remedy for git in a repository that the sandbox does not show, such as one with a separate git folder. */
function repositoryRemedy({ call }: ShellContext, { exit, stderr }: CommandResult): { [key: string]: Json } {
  const { root } = call.envelope;
  if (exit === 0 || !/^fatal: not a git repository/m.test(stderr) || !lstatIfAny(join(root, '.git'))) return {};
  const repository = findRepository(root);
  return isStop(repository) ? { notShown: `The operator can make git work here: ${repository.stop.message}` } : {};
}

/** The packages of a node_modules folder that are links, and their targets. */
function linksIn(folder: string, scope = ''): readonly { readonly name: string; readonly to: string }[] {
  return listFolderEntries(folder).flatMap((entry) => {
    const name = `${scope}${entry.name}`;
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) return existsSync(path) ? [{ name, to: realpathSync(path) }] : [];
    return scope === '' && entry.isDirectory() && entry.name.startsWith('@') ? linksIn(path, `${name}/`) : [];
  });
}

/** A command's result as the agent sees it. */
function commandJson(result: CommandResult): { [key: string]: Json } {
  const { exit, signal, stdout, stderr, truncated, timedOut, flooded, seconds } = result;
  return {
    exit,
    ...(signal === null ? {} : { signal }),
    stdout,
    stderr,
    truncated,
    timedOut,
    ...(flooded ? { flooded } : {}),
    seconds,
  };
}
