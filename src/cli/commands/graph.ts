import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { GRAPH_FORMATS, type GraphFormat, renderGraph } from '../../compile/render-graph.ts';
import { loadProjectConfig } from '../../spec/load-project-config.ts';
import { loadSpecs } from '../../spec/load-specs.ts';
import type { Io } from '../io.ts';
import { examples, rootOf, rootOption } from '../options.ts';
import { specsFolder } from '../project.ts';

interface Options {
  readonly root: string;
  readonly specs?: string;
  readonly format?: GraphFormat;
}

export function register(program: Command, io: Io): void {
  program
    .command('graph')
    .summary('print the hop graph')
    .description(
      'Prints the hop graph: the peripherals, and on each arrow the exits that lead along it with what they need.',
    )
    .addOption(new Option('--format <format>', 'how').choices(GRAPH_FORMATS).default('mermaid'))
    .option('--specs <dir>', 'the spec set (default: what hopgate.yaml names)')
    .addOption(rootOption())
    .addHelpText(
      'after',
      examples('hopgate graph > hops.mmd', 'hopgate graph --format dot | dot -Tsvg > hops.svg', 'hopgate graph --json'),
    )
    .action((options: Options) => graph(io, options));
}

async function graph(io: Io, options: Options): Promise<void> {
  const root = rootOf(io, options);
  const folder =
    options.specs === undefined
      ? specsFolder(root, (await loadProjectConfig(root)).config)
      : resolve(io.cwd, options.specs);
  io.stdout.write(renderGraph(await loadSpecs(folder), io.json ? 'json' : (options.format ?? 'mermaid')));
}
