import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { isObject } from '../base/json.ts';
import type { SpecSet } from '../spec/types.ts';
import { graphOf } from '../view/view-graph.ts';
import type { ViewGraph } from '../view/view-state.ts';

/** Maximum number of graphs in memory. */
const MOST = 32;
/** To be raised when the layout or the form of a graph changes. */
const FORMAT = `${manifest.version} 1`;

/** Laid out hop graphs by spec hash: in memory, and as files, because a layout takes a third of a second. */
export class GraphCache {
  readonly #folder: string;
  readonly #known = new Map<string, Promise<ViewGraph>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  of(specs: SpecSet): Promise<ViewGraph> {
    const graph = this.#known.get(specs.hash) ?? this.#read(specs);
    this.#known.set(specs.hash, graph);
    graph.catch(() => this.#known.delete(specs.hash));
    if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value!);
    return graph;
  }

  async #read(specs: SpecSet): Promise<ViewGraph> {
    const file = join(this.#folder, `${hash('sha256', `${FORMAT}\n${specs.hash}`)}.json`);
    try {
      const graph: unknown = JSON.parse(readFileSync(file, 'utf8'));
      if (isObject(graph) && Array.isArray(graph['nodes']) && Array.isArray(graph['edges']))
        return graph as unknown as ViewGraph;
    } catch {
      // No layout is stored, or a damaged one.
    }
    const graph = await graphOf(specs);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.${process.pid}`, JSON.stringify(graph), { mode: 0o600 });
      renameSync(`${file}.${process.pid}`, file);
    } catch {
      // If the disk is full or read-only, the next server must lay out the graph again.
    }
    return graph;
  }
}
