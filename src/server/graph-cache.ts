import { hash } from 'node:crypto';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { makeFolders, readTextOrEmpty, writeAtomically } from '../base/files.ts';
import { fieldsOf, parseJson } from '../base/json.ts';
import type { SpecSet } from '../spec/types.ts';
import { layOutViewGraph } from '../view/view-graph.ts';
import type { ViewGraph } from '../view/view-state.ts';
import { keepRecent } from './keep-recent.ts';

const MAX_GRAPHS = 32;
/** The version of the stored graphs. Raise the number when the layout or the form of a graph changes. */
const FORMAT = `${manifest.version} 1`;

/** Returns laid out hop graphs by spec hash: from memory, or from files, because a layout takes a third of a second. */
export function openGraphCache(folder: string): (specs: SpecSet) => Promise<ViewGraph> {
  const graphs = new Map<string, Promise<ViewGraph>>();
  const read = async (specs: SpecSet): Promise<ViewGraph> => {
    const file = join(folder, `${hash('sha256', `${FORMAT}\n${specs.hash}`)}.json`);
    const known = fieldsOf(parseJson(readTextOrEmpty(file)));
    if (Array.isArray(known['nodes']) && Array.isArray(known['edges'])) return known as unknown as ViewGraph;
    const graph = await layOutViewGraph(specs);
    try {
      makeFolders(folder, 0o700);
      writeAtomically(file, JSON.stringify(graph));
    } catch {
      // The disk is full or read-only, so the next server lays out the graph again.
    }
    return graph;
  };
  return (specs) => keepRecent(graphs, specs.hash, graphs.get(specs.hash) ?? read(specs), MAX_GRAPHS);
}
