import { type DelegationBody, type SessionOpenBody, toBody } from '../../evidence/bodies.ts';
import { unreadableEntryProblem } from '../../evidence/chain.ts';
import { EMPTY_CHAIN, type Entry, type StoredEntry } from '../../evidence/entry.ts';
import { getOwn } from '../../spec/names.ts';
import type { AuditedPin } from '../rules/audit-state.ts';
import { isSameJson } from '../rules/compare-json.ts';
import { parseEntryBody } from '../rules/read-body.ts';
import type { EvidenceGap, Violation } from '../verify/audit-result.ts';
import { findExtraPermissions } from './extra-permissions.ts';

/** A session to compare with: its pin and its entries. */
export interface PinnedSessionEvidence {
  readonly pinned: AuditedPin;
  readonly entries: AsyncIterable<StoredEntry> | Iterable<StoredEntry>;
}

/** Finds another session; null if it is not available. */
export type FindSessionById = (sessionId: string) => Promise<PinnedSessionEvidence | null>;

interface SubAgentFindings {
  readonly violations: Violation[];
  readonly gaps: EvidenceGap[];
}

type EntryReference = Pick<Entry, 'id' | 'seq' | 'mode' | 'sessionId'>;

interface RecordedBody<Body> {
  readonly entry: EntryReference;
  readonly body: Body;
}

/**
 * Compares a session with the sessions of its sub-agents, and with the session that started it. Each delegation and the
 * opening of its session must name each other. The sub-agent's pin may grant no more than the delegation says.
 */
export class SubAgentAudit {
  readonly #pinned: AuditedPin;
  #opened: RecordedBody<SessionOpenBody> | null = null;
  readonly #delegations: RecordedBody<DelegationBody>[] = [];

  constructor(pinned: AuditedPin) {
    this.#pinned = pinned;
  }

  add({ id, seq, mode, sessionId, body: raw }: Entry): void {
    const event = toBody(raw)?.event;
    if (event !== 'session-open' && event !== 'delegation') return;
    const body = parseEntryBody(raw);
    const entry = { id, seq, mode, sessionId };
    if (body?.event === 'session-open' && seq === 0) this.#opened = { entry, body };
    if (body?.event === 'delegation') this.#delegations.push({ entry, body });
  }

  async judge(find: FindSessionById): Promise<SubAgentFindings> {
    const found: SubAgentFindings = { violations: [], gaps: [] };
    const orGap = async ({ entry }: { readonly entry: EntryReference }, judgement: Promise<void>): Promise<void> => {
      // The other session's own verification reports an entry that cannot be read.
      await judgement.catch((error) => {
        const { message } = unreadableEntryProblem(EMPTY_CHAIN, error);
        found.gaps.push(gap(entry, `the other session cannot be compared: ${message}`));
      });
    };
    if (this.#opened) await orGap(this.#opened, this.#judgeParent(this.#opened, find, found));
    for (const delegation of this.#delegations) await orGap(delegation, this.#judgeChild(delegation, find, found));
    return found;
  }

  async #judgeParent({ entry, body }: RecordedBody<SessionOpenBody>, find: FindSessionById, found: SubAgentFindings) {
    const { parent, delegation } = body;
    if (delegation === undefined) return;
    const parentSession = parent === undefined ? null : await find(parent);
    if (parentSession === null) {
      found.gaps.push(gap(entry, `the session that started this one is not available: ${parent ?? 'none'}`));
      return;
    }
    for await (const { entry: other, body: bytes } of parentSession.entries) {
      if (other.id !== delegation) continue;
      if (bytes === null) return void found.gaps.push(gap(entry, `session ${parent} has erased the delegation`));
      const recorded = parseEntryBody(other.body);
      if (recorded?.event === 'delegation' && recorded.session === entry.sessionId) {
        judgePin(entry, recorded, other.mode, { parent: parentSession.pinned, child: this.#pinned }, found);
        return;
      }
    }
    const message = `session ${parent} has no delegation ${delegation} of this session`;
    found.violations.push(violation(entry, 'the parent session must record the delegation', message));
  }

  async #judgeChild({ entry, body }: RecordedBody<DelegationBody>, find: FindSessionById, found: SubAgentFindings) {
    if (body.session === null) return;
    const child = await find(body.session);
    if (child === null) {
      found.gaps.push(gap(entry, `the sub-agent's session ${body.session} is not available, or never began`));
      return;
    }
    for await (const { entry: first, body: bytes } of child.entries) {
      if (bytes === null) return void found.gaps.push(gap(entry, `the sub-agent's session ${body.session} was erased`));
      const opened = parseEntryBody(first.body);
      const isSubAgent =
        opened?.event === 'session-open' && opened.parent === entry.sessionId && opened.delegation === entry.id;
      if (!isSubAgent) {
        const message = `session ${body.session} does not name this delegation`;
        found.violations.push(violation(entry, "the sub-agent's session must name its delegation", message));
        return;
      }
      judgePin(entry, body, entry.mode, { parent: this.#pinned, child: child.pinned }, found);
      return;
    }
  }
}

/** Checks that the sub-agent's pin has one peripheral and one mode, and grants no more than the delegation. */
function judgePin(
  entry: EntryReference,
  { from, to, within }: DelegationBody,
  mode: Entry['mode'],
  { parent, child }: { readonly parent: AuditedPin; readonly child: AuditedPin },
  { violations }: SubAgentFindings,
): void {
  const wrong = (constraint: string, message: string) => violations.push(violation(entry, constraint, message));
  const only = getOwn(child.specs.peripherals, to);
  if (!only || Object.keys(child.specs.peripherals).length > 1)
    return void wrong(
      `a sub-agent must have one peripheral: ${to}`,
      `the sub-agent has ${Object.keys(child.specs.peripherals).join(', ')}`,
    );
  if (only.exits.length > 0 || child.specs.edges.length > 0)
    wrong('a sub-agent must have no exits', `the sub-agent can leave ${to}`);
  if (only.scope.rule.command === 'deploy') wrong('a sub-agent must not ship', `the scope of ${to} ships`);
  const gate = child.specs.modeGate;
  if ((gate?.initial ?? null) !== mode || (gate?.transitions.length ?? 0) > 0 || (gate && gate.reset !== mode))
    wrong(
      `a sub-agent must stay in mode ${mode ?? 'none'}`,
      `the sub-agent begins in mode ${gate?.initial ?? 'none'}, and may change it`,
    );
  if (!isSameJson(child.specs.tools, parent.specs.tools))
    wrong('a sub-agent must have the tools of its parent', 'the catalogue of tools differs');
  const settings = ({ config: { scopes: _, ...rest } }: AuditedPin) => JSON.parse(JSON.stringify(rest));
  if (!isSameJson(settings(child), settings(parent)))
    wrong('a sub-agent must have the configuration of its parent', 'the configuration differs');
  for (const id of within === 'own' ? [to] : [from, to]) {
    const outer = getOwn(parent.specs.peripherals, id);
    if (!outer) continue;
    const more = findExtraPermissions([only, child], [outer, parent]);
    if (more.length > 0) wrong(`within ${id}`, `the sub-agent has more: ${more.join('; ')}`);
  }
}

const violation = ({ id, seq }: EntryReference, constraint: string, message: string): Violation => ({
  rule: 'delegation',
  entryId: id,
  seq,
  constraint,
  message,
});

const gap = ({ id, seq }: EntryReference, message: string): EvidenceGap => ({
  kind: 'unknown',
  entryId: id,
  seq,
  message,
});
