import { hash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { readTextOrEmpty, writeAtomically } from '../base/files.ts';
import { getOrInsert } from '../base/get-or-insert.ts';
import { fieldsOf, parseJson } from '../base/json.ts';
import type { SpecSet } from '../spec/types.ts';
import { layOutViewGraph } from '../view/view-graph.ts';
import type { ViewGraph } from '../view/view-state.ts';

/** Maximum number of graphs in memory. */
const MAX_GRAPHS = 32;
/** The version of the stored graphs. Raise the number when the layout or the form of a graph changes. */
const FORMAT = `${manifest.version} 1`;

/** Laid out hop graphs by spec hash: in memory, and as files, because a layout takes a third of a second. */
export class GraphCache {
  readonly #folder: string;
  readonly #graphs = new Map<string, Promise<ViewGraph>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  graphOf(specs: SpecSet): Promise<ViewGraph> {
    const graph = getOrInsert(this.#graphs, specs.hash, () => this.#read(specs));
    graph.catch(() => this.#graphs.delete(specs.hash));
    if (this.#graphs.size > MAX_GRAPHS) this.#graphs.delete(this.#graphs.keys().next().value!);
    return graph;
  }

  async #read(specs: SpecSet): Promise<ViewGraph> {
    const file = join(this.#folder, `${hash('sha256', `${FORMAT}\n${specs.hash}`)}.json`);
    const known = fieldsOf(parseJson(readTextOrEmpty(file)));
    if (Array.isArray(known['nodes']) && Array.isArray(known['edges'])) return known as unknown as ViewGraph;
    const graph = await layOutViewGraph(specs);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeAtomically(file, JSON.stringify(graph));
    } catch {
      // The disk is full or read-only, so the next server lays out the graph again.
    }
    return graph;
  }
}
