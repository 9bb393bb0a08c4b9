import { resolve } from 'node:path';
import { specsFolder } from '../project/open-project.ts';
import { loadProjectConfig } from '../spec/load/load-project-config.ts';
import { didYouMean } from '../spec/names.ts';
import type { SpecSet } from '../spec/types.ts';
import { type Io, usageError } from './io.ts';

/** Resolves the name of a spec set on the command line: `default`, or a path relative to the current folder. */
export const resolveSpecsOption = ({ cwd }: Io, path: string): string =>
  path === 'default' ? path : resolve(cwd, path);

/** @throws CliError if the spec set has no peripheral of the given name */
export function checkPeripheralOption(name: string, { peripherals }: Pick<SpecSet, 'peripherals'>): void {
  if (Object.hasOwn(peripherals, name)) return;
  const names = Object.keys(peripherals);
  const remedy = `${didYouMean(name, names)}Peripherals: ${names.join(', ')}.`;
  throw usageError(`there is no peripheral "${name}"`, remedy, 'unknown-peripheral');
}

/**
 * The folder of the spec set that a command uses: the folder named on the command line, or the folder in hopgate.yaml.
 */
export const chooseSpecsFolder = async (io: Io, root: string, path: string | undefined): Promise<string> =>
  path === undefined ? specsFolder(root, (await loadProjectConfig(root)).config) : resolveSpecsOption(io, path);
