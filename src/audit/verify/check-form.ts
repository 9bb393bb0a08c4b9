import type { Body } from '../../evidence/bodies.ts';
import { CLAIM_TYPE_OF_EVENT } from '../../evidence/claim-of.ts';
import type { Entry, EvidenceType } from '../../evidence/entry.ts';
import { patternToolOfEntry } from '../../evidence/patterns/discipline.ts';
import { getOwn } from '../../spec/names.ts';
import { EVIDENCE_TAG_BY_TOOL } from '../../spec/policy/closed-lists.ts';
import type { PeripheralSpec } from '../../spec/types.ts';
import type { AuditState } from '../rules/audit-state.ts';
import { isReflectingPeripheral } from '../rules/audited-observations.ts';
import { isSameJson } from '../rules/compare-json.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import type { AuditReport } from './audit-report.ts';

function typeFor(event: Body['event'], peripheral: PeripheralSpec | undefined): EvidenceType {
  switch (event) {
    case 'hop':
    case 'delegation':
    case 'approval':
    case 'grant':
    case 'grant-end':
      return 'gate-traversal';
    case 'mode':
      return 'mode-transition';
    case 'par':
      return 'reflection';
    default:
      return peripheral && isReflectingPeripheral(peripheral) ? 'reflection' : 'coordination';
  }
}

/** The required author of an entry: who made the request; for a tool call, the agent. */
function authorFor(body: Body, agent: string): string {
  switch (body.event) {
    case 'session-open':
      return body.agent;
    case 'expired':
      return 'clock';
    case 'approval':
      return body.record.by;
    case 'grant':
    case 'grant-end':
      return body.by;
    case 'start':
    case 'stop':
    case 'hop':
    case 'delegation':
    case 'mode':
    case 'note':
    case 'session-closed':
      return body.by === 'agent' ? agent : body.by;
    default:
      return agent;
  }
}

/** The required tags of an entry: its peripheral, role in a discipline, kind of tool, event, and lack of a sandbox. */
function tagsFor(state: AuditState, peripheral: string | null, body: Body): readonly string[] {
  const { specs } = state.pinned;
  const called =
    body.event === 'step' || body.event === 'outcome' ? getOwn(EVIDENCE_TAG_BY_TOOL, body.tool) : undefined;
  const spec = peripheral === null ? undefined : getOwn(specs.peripherals, peripheral);
  const leavesWorld = spec?.tools.some((tool) => getOwn(specs.tools, tool)?.effect === 'simulate') ?? false;
  return [
    ...(peripheral === null ? [] : ['peripheral', peripheral]),
    ...[patternToolOfEntry(body)?.tag ?? []].flat(),
    ...[called ?? []].flat(),
    ...(body.event === 'stop' && body.exit !== null && leavesWorld ? ['hop-out'] : []),
    body.event,
    ...(state.unsafeNoSandbox ? ['unsafe-no-sandbox'] : []),
  ];
}

/**
 * Checks the head of an entry: place, mode, claim, subject, tags, type, author and the entry that it replies to.
 *
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
  const peripheral = event === 'start' ? body.peripheral : (state.visit?.peripheral ?? null);
  if (entry.peripheral !== peripheral)
    report.violation(
      'place',
      `the session is in ${peripheral ?? 'no peripheral'}`,
      `the entry names ${entry.peripheral ?? 'no peripheral'}`,
      NEEDS_HISTORY,
    );
  if (state.mode !== null && entry.mode !== state.mode)
    report.violation('mode', `the mode is ${state.mode}`, `the entry names mode ${entry.mode}`, NEEDS_HISTORY);
  const rule = patternToolOfEntry(body);
  const claim = rule?.claim ?? CLAIM_TYPE_OF_EVENT[event];
  if (entry.claim !== claim) {
    const broken = event === 'stop' ? 'conclusion-last' : 'claim';
    report.violation(broken, `the claim of ${event} is ${claim}`, `the entry's claim is ${entry.claim}`);
  }
  const pattern = rule?.pattern ?? null;
  if ((entry.patternId ?? null) !== pattern)
    report.violation(
      'reply',
      `patternId must be ${pattern ?? 'absent'}`,
      `patternId is ${entry.patternId ?? 'absent'}`,
      NEEDS_HISTORY,
    );
  const subject = pattern === null ? { type: 'session', id: state.sessionId } : { type: 'pattern', id: pattern };
  if (!isSameJson({ ...entry.subject }, subject))
    report.violation(
      'subject',
      `the subject must be ${subject.type} ${subject.id}`,
      `the subject is ${entry.subject.type} ${entry.subject.id}`,
    );
  const tags = tagsFor(state, peripheral, body);
  if (!isSameJson([...entry.tags], tags))
    report.violation(
      'tags',
      `tags: ${tags.join(', ')}`,
      `the entry's tags are ${entry.tags.join(', ') || 'none'}`,
      NEEDS_HISTORY,
    );
  const spec = peripheral === null ? undefined : state.pinned.specs.peripherals[peripheral];
  const type = rule?.type ?? typeFor(event, spec);
  if (entry.type !== type)
    report.violation('evidence-type', `the type of ${event} is ${type}`, `the entry's type is ${entry.type}`);
  const author = authorFor(body, state.agent);
  if (entry.author !== author) report.violation('author', `author: ${author}`, `the entry names ${entry.author}`);
  if ((entry.inReplyTo ?? null) !== parent)
    report.violation(
      'reply',
      `the entry must reply to ${parent ?? 'nothing'}`,
      `the entry replies to ${entry.inReplyTo ?? 'nothing'}`,
      NEEDS_HISTORY,
    );
}
