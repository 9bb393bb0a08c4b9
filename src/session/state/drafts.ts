import { asJson } from '../../base/json.ts';
import type { Body } from '../../evidence/bodies.ts';
import { CLAIM_TYPE_OF_EVENT } from '../../evidence/claim-of.ts';
import type { EntryDraft, EvidenceType } from '../../evidence/entry.ts';
import { patternToolOfEntry } from '../../evidence/patterns/pattern-tools.ts';
import { getOwn } from '../../spec/names.ts';
import { EVIDENCE_TAG_BY_TOOL } from '../../spec/policy/evidence-tags.ts';
import type { PeripheralSpec, SpecSet } from '../../spec/types.ts';
import type { SessionState } from './session-state.ts';

/** True for a reflecting peripheral: its fruit holds a PAR. Its entries are of type `reflection`. */
export const isReflectPeripheral = (spec: PeripheralSpec | undefined): boolean =>
  spec !== undefined && Object.values(spec.fruit).some((field) => field.kind === 'observed' && field.from === 'par');

function typeOf(specs: SpecSet, peripheral: string | null, body: Body): EvidenceType {
  if (['hop', 'delegation', 'approval', 'grant', 'grant-end'].includes(body.event)) return 'gate-traversal';
  if (body.event === 'mode') return 'mode-transition';
  if (body.event === 'par') return 'reflection';
  return peripheral !== null && isReflectPeripheral(specs.peripherals[peripheral]) ? 'reflection' : 'coordination';
}

/** The id of the entry that a body replies to; by default `last`, the entry before it in this batch or the chain. */
function replyTarget({ facts }: SessionState, body: Body, last: string | null): string | null {
  const { visit, pending, hopId, visits } = facts;
  const rule = patternToolOfEntry(body);
  const selection =
    rule?.repliesTo === 'selection' && rule.pattern !== null ? getOwn(facts.selections, rule.pattern) : null;
  if (selection) return selection;
  if (body.event === 'session-open') return null;
  if (body.event === 'start') return hopId ?? (Object.keys(visits).length === 0 ? facts.openedId : last);
  if (body.event === 'step' || body.event === 'intent' || body.event === 'stop') return visit?.headId ?? last;
  if (body.event === 'outcome' || body.event === 'interrupted') return pending?.id ?? last;
  return last;
}

/** Completes a body to the draft of the next entry after `state`. Pure. */
export function draftEntry(
  specs: SpecSet,
  state: SessionState,
  body: Body,
  { id, now }: { readonly id: string; readonly now: number },
): EntryDraft {
  const { facts } = state;
  const rule = patternToolOfEntry(body);
  const peripheral = body.event === 'start' ? body.peripheral : (facts.visit?.peripheral ?? null);
  const inReplyTo = replyTarget(state, body, facts.lastId);
  const author = body.event === 'session-open' ? body.agent : authorOf(body, facts.agent);
  return {
    id,
    at: new Date(Math.max(now, facts.lastAt)).toISOString(),
    type: rule?.type ?? typeOf(specs, peripheral, body),
    claim: rule?.claim ?? CLAIM_TYPE_OF_EVENT[body.event],
    subject: rule?.pattern ? { type: 'pattern', id: rule.pattern } : { type: 'session', id: facts.sessionId },
    author,
    sessionId: facts.sessionId,
    peripheral,
    mode: state.mode,
    body: asJson(body),
    tags: [
      ...(peripheral === null ? [] : ['peripheral', peripheral]),
      ...(rule ? [rule.tag] : []),
      ...inhabitantTag(specs, peripheral, body),
      body.event,
      ...(facts.unsafeNoSandbox ? ['unsafe-no-sandbox'] : []),
    ],
    ...(rule?.pattern ? { patternId: rule.pattern } : {}),
    ...(inReplyTo === null ? {} : { inReplyTo }),
  };
}

/** The tag `alfworld-step`, `bell` or `whistle` of a call; `hop-out` of a hop out of a peripheral with a world. */
function inhabitantTag(specs: SpecSet, peripheral: string | null, body: Body): readonly string[] {
  if (body.event === 'step' || body.event === 'outcome') {
    const tag = getOwn(EVIDENCE_TAG_BY_TOOL, body.tool);
    return tag === undefined ? [] : [tag];
  }
  if (body.event !== 'stop' || body.exit === null || peripheral === null) return [];
  const tools = specs.peripherals[peripheral]?.tools ?? [];
  return tools.some((tool) => specs.tools[tool]?.effect === 'simulate') ? ['hop-out'] : [];
}

/** The author of an entry: the agent, unless the request came from the operator or the clock. */
function authorOf(body: Body, agent: string): string {
  if (body.event === 'expired') return 'clock';
  if (body.event === 'approval') return body.record.by;
  if (body.event === 'grant' || body.event === 'grant-end') return body.by;
  if ('by' in body && body.by !== 'agent') return body.by;
  return agent;
}
