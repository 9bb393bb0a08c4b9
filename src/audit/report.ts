import type { Entry } from '../evidence/entry.ts';
import { type Gap, MAX_LISTED, type Rule, type Violation } from './verdict.ts';

type About = { readonly tool?: string; readonly argument?: string };

/** Collects findings; each is about the entry that is being read. */
export class Report {
  readonly violations: Violation[] = [];
  readonly gaps: Gap[] = [];
  violationsInAll = 0;
  gapsInAll = 0;
  /** A body was erased: what was counted since is not all that happened. */
  blind = false;
  #at: Pick<Entry, 'id' | 'seq'> = { id: '', seq: -1 };

  reading(entry: Entry): void {
    this.#at = entry;
  }

  breach(rule: Rule, constraint: string, message: string, about: About = {}): void {
    this.violationsInAll += 1;
    if (this.violations.length >= MAX_LISTED) return;
    const { id, seq } = this.#at;
    this.violations.push({ rule, entryId: id, seq, ...about, constraint, message });
  }

  /** A breach that rests on what was counted before: with an erased body in between it is a gap. */
  counted(rule: Rule, constraint: string, message: string, about: About = {}): void {
    if (this.blind) this.gap('erased', `cannot be judged after an erased body: ${message}`, about.tool);
    else this.breach(rule, constraint, message, about);
  }

  gap(kind: Gap['kind'], message: string, tool?: string): void {
    this.gapsInAll += 1;
    if (this.gaps.length >= MAX_LISTED) return;
    const { id, seq } = this.#at;
    this.gaps.push({ kind, entryId: id, seq, ...(tool === undefined ? {} : { tool }), message });
  }
}
