import { resolve } from 'node:path';
import { Option } from 'commander';
import { writeNamedFile } from '../../../base/files.ts';
import { compileMachineConfigs } from '../../../compile/compile-specs.ts';
import { DRAWN_FORMATS, type DrawnFormat, drawGraph } from '../../../compile/draw-graph.ts';
import { HOP_GRAPH_ID } from '../../../compile/hop-graph.ts';
import { OUTSIDE_STATE } from '../../../compile/special-states.ts';
import { GraphTooLargeError } from '../../../compile/svg/render-svg.ts';
import { loadSpecs } from '../../../spec/load/load-specs.ts';
import type { SpecSet } from '../../../spec/types.ts';
import { chooseSpecsFolder } from '../../choose-specs.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, usageError } from '../../io.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';

interface Options extends RootOption {
  readonly format?: DrawnFormat;
  readonly machine?: string;
  readonly current?: string;
  readonly out?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Prints the hop graph: the peripherals, and on each arrow its exits with their conditions. With --machine it prints another machine.',
    )
    .argument('[specs]', 'a spec folder or file (default: the one that hopgate.yaml names)')
    .addOption(new Option('--format <format>', 'the format').choices(DRAWN_FORMATS).default('mermaid'))
    .option('--machine <id>', 'draw this machine: mode-gate, edit-lifecycle, …', HOP_GRAPH_ID)
    .option('--current <peripheral>', 'mark this peripheral; "outside" marks the start')
    .option('--out <file>', 'write to this file')
    .addOption(rootOption())
    .examples(
      'hopgate graph > hops.mmd',
      'hopgate graph specs | less',
      'hopgate graph --format svg --current test --out hops.svg',
      'hopgate graph --format stately > hop-graph.ts   # open it in Stately Studio',
      'hopgate graph --format stately --machine edit-lifecycle',
      'hopgate graph --json',
    )
    .action((specs: string | undefined, options: Options) => graph(io, specs, options));
}

async function graph(io: Io, path: string | undefined, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const folder = await chooseSpecsFolder(io, root, path);
  const specs = await loadSpecs(folder);
  const format = io.json ? 'json' : (options.format ?? 'mermaid');
  const { machine = HOP_GRAPH_ID } = options;
  checkMachine(specs, machine, format);
  const shown = machine === HOP_GRAPH_ID ? placeOf(specs, options.current) : options;
  const text = await drawGraph(specs, format, { ...shown, machine }).catch((error: unknown) => {
    if (!(error instanceof GraphTooLargeError)) throw error;
    throw new CliError('graph-too-large', error.message, 'Use --format mermaid, dot or json.', { cause: error });
  });
  if (options.out === undefined) io.stdout.write(text);
  else writeNamedFile(resolve(io.cwd, options.out), text);
}

function checkMachine(specs: SpecSet, machine: string, format: DrawnFormat): void {
  const ids = compileMachineConfigs(specs).map(({ id }) => id);
  if (!ids.includes(machine))
    throw usageError(`there is no machine "${machine}"`, `Name one of ${ids.join(', ')}.`, 'no-machine');
  if (format === 'svg' && machine !== HOP_GRAPH_ID)
    throw usageError(`only the hop graph is drawn as svg`, 'Use --format mermaid, dot or stately.', 'no-drawing');
}

function placeOf(specs: SpecSet, current: string | undefined): { readonly current?: string | null } {
  if (current === undefined) return {};
  if (current === OUTSIDE_STATE) return { current: null };
  if (Object.hasOwn(specs.peripherals, current)) return { current };
  const names = Object.keys(specs.peripherals).join(', ');
  throw usageError(`there is no peripheral "${current}"`, `Name ${names} or ${OUTSIDE_STATE}.`, 'no-peripheral');
}
