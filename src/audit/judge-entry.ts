import type { EntrySource, PeripheralSpec, Principal } from '../spec/types.ts';
import type { Ledger } from './ledger.ts';
import type { Report } from './report.ts';
import { conditionHolds, type Moment, naturalClose } from './session-facts.ts';

/** Judges an entry: who may come in, from where, in which mode, under which conditions. */
export function judgeEntry(moment: Moment, target: PeripheralSpec, report: Report): void {
  const { ledger, by } = moment;
  const { agents, entry, id } = target;
  if (agents !== null && !agents.includes(ledger.agent))
    report.breach('agent', `agents: ${agents.join(', ')}`, `${ledger.agent} entered ${id}`);
  if (!entry.sources.some((source) => admits(source, moment))) {
    const from = moment.visit ? `from ${moment.visit.peripheral}` : ledger.visited ? 'after the visits' : 'at first';
    report.counted(
      'entry',
      `entry: ${entry.sources.map(inWords).join(', ')}`,
      `${id} was entered ${from}, by the ${by}`,
    );
  }
  const onRequest = entry.sources.some(({ kind }) => kind === 'agent-request');
  if (moment.visit && onRequest && by === 'agent' && !naturalClose(moment)) {
    report.counted(
      'entry',
      'agent-request: at a natural close',
      `${id} was entered with nothing done since the last review`,
    );
  }
  for (const name of entry.conditions) {
    if (!conditionHolds(moment, name))
      report.counted('condition', `entry: ${name}`, `${id} was entered while it did not hold`);
  }
  judgeModeOf(ledger, id, report);
}

function admits(source: EntrySource, moment: Moment): boolean {
  const { ledger, by, visit } = moment;
  switch (source.kind) {
    case 'default':
      return !ledger.visited;
    case 'from':
      return visit?.peripheral === source.peripheral;
    case 'from-any':
      return visit !== null;
    case 'user-request':
      return by === ('operator' satisfies Principal);
    case 'agent-request':
      return visit !== null && by === 'agent' && naturalClose(moment);
    case 'session-close':
      return ledger.visited && visit === null;
    default:
      return source satisfies never;
  }
}

function judgeModeOf({ mode, pinned }: Ledger, peripheral: string, report: Report): void {
  const allowed = pinned.specs.gate && mode ? pinned.specs.gate.peripherals[mode] : null;
  if (allowed && !allowed.includes(peripheral))
    report.breach(
      'mode',
      `${mode}: ${allowed.join(', ') || 'no peripheral'}`,
      `${peripheral} was entered in this mode`,
    );
}

const inWords = (source: EntrySource): string => (source.kind === 'from' ? `from-${source.peripheral}` : source.kind);
