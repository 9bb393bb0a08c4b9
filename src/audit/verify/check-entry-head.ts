import type { Body } from '../../evidence/bodies.ts';
import { CLAIM_TYPE_OF_EVENT } from '../../evidence/claim-of.ts';
import type { Entry, EvidenceType } from '../../evidence/entry.ts';
import { patternToolOfEntry } from '../../evidence/patterns/pattern-tools.ts';
import { getOwn } from '../../spec/names.ts';
import { EVIDENCE_TAG_BY_TOOL } from '../../spec/policy/evidence-tags.ts';
import type { AuditState } from '../rules/audit-state.ts';
import { isReflectingPeripheral } from '../rules/audited-observations.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import type { AuditReport } from './audit-report.ts';

const TYPES: { readonly [event: string]: EvidenceType } = {
  hop: 'gate-traversal',
  delegation: 'gate-traversal',
  approval: 'gate-traversal',
  grant: 'gate-traversal',
  'grant-end': 'gate-traversal',
  mode: 'mode-transition',
  par: 'reflection',
};

const REQUESTED = ['start', 'stop', 'hop', 'delegation', 'mode', 'note', 'session-closed'] as const;
type RequestedBody = Extract<Body, { readonly event: (typeof REQUESTED)[number] }>;
const isRequested = (body: Body): body is RequestedBody => (REQUESTED as readonly string[]).includes(body.event);

/** The required author of an entry: who made the request; for a tool call, the agent. */
function authorFor(body: Body, agent: string): string {
  if (body.event === 'session-open') return body.agent;
  if (body.event === 'expired') return 'clock';
  if (body.event === 'approval') return body.record.by;
  if (body.event === 'grant' || body.event === 'grant-end') return body.by;
  return isRequested(body) && body.by !== 'agent' ? body.by : agent;
}

/** The required tags of an entry: peripheral, tags of its tool, `hop-out` from a world, event, and missing sandbox. */
function tagsFor(state: AuditState, peripheral: string | null, body: Body): readonly string[] {
  const { specs } = state.pinned;
  const called =
    body.event === 'step' || body.event === 'outcome' ? getOwn(EVIDENCE_TAG_BY_TOOL, body.tool) : undefined;
  const spec = peripheral === null ? undefined : getOwn(specs.peripherals, peripheral);
  const hopsOut = body.event === 'stop' && body.exit !== null;
  const leavesWorld = hopsOut && spec?.tools.some((tool) => getOwn(specs.tools, tool)?.effect === 'simulate');
  return [
    ...(peripheral === null ? [] : ['peripheral', peripheral]),
    ...[patternToolOfEntry(body)?.tag ?? []].flat(),
    ...[called ?? []].flat(),
    ...(leavesWorld ? ['hop-out'] : []),
    body.event,
    ...(state.unsafeNoSandbox ? ['unsafe-no-sandbox'] : []),
  ];
}

/**
 * Checks the head of an entry: peripheral, mode, claim, subject, tags, type, author and the entry that it replies to.
 * @param parent the id of the entry that it must reply to; null if it must reply to none
 */
export function checkEntryHead(
  state: AuditState,
  entry: Entry,
  body: Body,
  parent: string | null,
  report: AuditReport,
): void {
  const { event } = body;
  const { specs } = state.pinned;
  const peripheral = event === 'start' ? body.peripheral : (state.visit?.peripheral ?? null);
  const spec = peripheral === null ? undefined : specs.peripherals[peripheral];
  const reflects = spec !== undefined && isReflectingPeripheral(spec);
  const rule = patternToolOfEntry(body);
  const pattern = rule?.pattern ?? null;
  const subject = pattern === null ? { type: 'session', id: state.sessionId } : { type: 'pattern', id: pattern };
  const type = rule?.type ?? TYPES[event] ?? (reflects ? 'reflection' : 'coordination');
  const compare = report.compare.bind(report);
  compare('peripheral', 'the peripheral of the entry', peripheral, entry.peripheral, NEEDS_HISTORY);
  if (state.mode !== null) compare('mode', 'the mode of the entry', state.mode, entry.mode, NEEDS_HISTORY);
  const claim = rule?.claim ?? CLAIM_TYPE_OF_EVENT[event];
  compare(event === 'stop' ? 'conclusion-last' : 'claim', `the claim of ${event}`, claim, entry.claim);
  compare('reply', 'the patternId of the entry', pattern, entry.patternId ?? null, NEEDS_HISTORY);
  compare('subject', 'the subject', subject, entry.subject);
  compare('tags', 'the list of tags', tagsFor(state, peripheral, body), entry.tags, NEEDS_HISTORY);
  compare('evidence-type', `the type of ${event}`, type, entry.type);
  compare('author', 'the author', authorFor(body, state.agent), entry.author);
  compare('reply', 'the inReplyTo of the entry', parent, entry.inReplyTo ?? null, NEEDS_HISTORY);
}
