import { type Fields, fieldsOf, type Json, textOf } from '../base/json.ts';
import { type HopBody, type StartBody, toBody } from './bodies.ts';
import type { Entry } from './entry.ts';

/** A commit or a push, and its tree, which is null if the evidence does not name it. */
export interface ShippedCommit {
  readonly sha: string | null;
  readonly tree: string | null;
}

/** A visit that shipped, or was approved to ship. Each tree is null if the evidence does not have it. */
export interface Shipment {
  /** The `seq` of the entry that started the visit. */
  readonly seq: number;
  readonly peripheral: string;
  readonly tested: string | null;
  /** The tree that the commit should have; without a repository, the tested tree. */
  readonly approved: string | null;
  readonly approval: string | null;
  readonly committed: readonly ShippedCommit[];
  readonly pushed: readonly ShippedCommit[];
  /** The deploy commands that were run. */
  readonly deployed: readonly string[];
}

/** Collects the shipments of a session, entry by entry. */
export class ShipmentCollector {
  readonly #all: Shipment[] = [];
  #hop: HopBody | null = null;
  #here: Shipment | null = null;

  /** @param deploys true for a peripheral that may ship; the reports of other peripherals do not count */
  add({ seq, body: json }: Entry, deploys: (peripheral: string) => boolean): void {
    const body = toBody(json);
    if (body?.event === 'hop') this.#hop = body;
    else if (body?.event === 'start') {
      this.#here = deploys(body.peripheral) ? beginShipment(seq, body, this.#hop) : null;
      this.#hop = null;
      if (this.#here?.tested != null || this.#here?.approval != null) this.#all.push(this.#here);
    } else if ((body?.event === 'outcome' || body?.event === 'step') && this.#here && body.outcome.status === 'ok')
      this.#addResult(this.#here, fieldsOf(body.outcome.result));
  }

  get all(): readonly Shipment[] {
    return this.#all;
  }

  #addResult(here: Shipment, result: Fields): void {
    const commit = { sha: textOf(result['sha']), tree: textOf(result['tree']) };
    const now: Shipment = {
      ...here,
      committed: result['committed'] === true ? [...here.committed, commit] : here.committed,
      pushed: result['pushed'] === true ? [...here.pushed, commit] : here.pushed,
      deployed: textOf(result['deploy']) === null ? here.deployed : [...here.deployed, textOf(result['deploy'])!],
    };
    const at = this.#all.indexOf(here);
    const shipped = now.committed.length + now.pushed.length + now.deployed.length > 0;
    if (at !== -1) this.#all[at] = now;
    else if (shipped) this.#all.push(now);
    this.#here = now;
  }
}

function beginShipment(seq: number, { peripheral, tree: own }: StartBody, hop: HopBody | null): Shipment {
  const tree = fieldsOf(hop ? (hop.tree ?? null) : (own ?? null));
  const ships = textOf(fieldsOf(tree['ships'] ?? null)['id']);
  const id = textOf(tree['id']);
  const approval = hop?.approval ?? null;
  const passed = fieldsOf(fieldsOf((hop?.facts ?? null) as Json)['conditions'] ?? null)['tests-passed'] === true;
  return {
    seq,
    peripheral,
    tested: passed ? id : null,
    approved: approval === null ? null : (ships ?? id),
    approval,
    committed: [],
    pushed: [],
    deployed: [],
  };
}
