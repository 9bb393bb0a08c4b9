import { isEmptyJson, listOf } from '../../base/json.ts';
import { isBlobReference } from '../../evidence/blob-values.ts';
import type { SituationData, TranscriptItem } from '../../evidence/transcript.ts';
import type { Json, SpecSet } from '../../spec/types.ts';
import { isSameJson } from '../rules/compare-json.ts';
import { type DemandFailure, type DemandResult, demandResult, inapplicableDemand } from './inhabitation-demands.ts';
import type { SessionAct } from './session-acts.ts';
import type { SessionTimeline } from './session-timeline.ts';

type EnteredContext = NonNullable<SessionAct['entered']>;

/**
 * Judges P-2: the first text after an entry states the agent's peripheral and mode, its context, tools and exits.
 * All four must match the spec and the session's state, both as data and in the text.
 */
export function judgeContextInjection(timeline: SessionTimeline): DemandResult {
  const entries = timeline.acts.filter(({ entered }) => entered !== null);
  if (entries.length === 0) return inapplicableDemand('P-2', 'the session entered no peripheral');
  return demandResult(
    'P-2',
    entries.flatMap((act) => judgeEntry(timeline, act, act.entered as EnteredContext)),
  );
}

function judgeEntry(timeline: SessionTimeline, act: SessionAct, entered: EnteredContext): readonly DemandFailure[] {
  const item = firstDelivered(timeline, act);
  const at = { item: item?.n ?? null, seq: act.seq };
  if (item === null)
    return [{ ...at, reason: `nothing was delivered to the agent when ${entered.peripheral} was entered` }];
  const { situation, text } = item;
  if (situation === null)
    return [{ ...at, reason: `the first text delivered in ${entered.peripheral} does not say where the agent is` }];
  const mode = [entered.mode, ...laterModes(timeline, act)].find((each) => each === situation.mode) ?? entered.mode;
  return [
    ...missingInData(timeline.specs, { ...entered, mode }, situation),
    ...missingInText(timeline.specs, { ...entered, mode }, situation, text),
  ].map((reason) => ({ ...at, reason: `on entering ${entered.peripheral}: ${reason}` }));
}

/** The modes that the operator set before the agent's next act; none if a call of the agent entered the peripheral. */
function laterModes({ acts, alignment }: SessionTimeline, act: SessionAct): readonly string[] {
  if (alignment.pairs.some(({ act: called }) => called === act)) return [];
  const after = acts.slice(acts.indexOf(act) + 1);
  const end = after.findIndex(({ by }) => by !== 'operator');
  return after.slice(0, end < 0 ? after.length : end).flatMap(({ kind, what }) => (kind === 'mode' ? what : []));
}

type DeliveredItem = Extract<TranscriptItem, { kind: 'delivered' | 'result' }>;

/** The result of the call that entered a peripheral, or else the last text before the agent's next call. */
function firstDelivered({ alignment, acts, transcript }: SessionTimeline, act: SessionAct): DeliveredItem | null {
  const pair = alignment.pairs.find((candidate) => candidate.act === act);
  if (pair) return pair.call.result;
  const isBefore = (other: SessionAct): boolean => acts.indexOf(other) < acts.indexOf(act);
  const before = alignment.pairs.filter(({ act: other }) => isBefore(other)).at(-1);
  const after = alignment.pairs.find(({ act: other }) => !isBefore(other));
  const from = before?.call.result?.n ?? -1;
  const to = after?.call.item.n ?? Number.POSITIVE_INFINITY;
  const delivered = transcript.items.filter(
    (item): item is DeliveredItem =>
      (item.kind === 'delivered' || item.kind === 'result') && item.n > from && item.n < to,
  );
  // An earlier text may describe the previous peripheral.
  return delivered.find(({ situation }) => situation?.peripheral === act.entered?.peripheral) ?? delivered[0] ?? null;
}

function missingInData(
  specs: SpecSet,
  { peripheral, mode, context }: EnteredContext,
  situation: SituationData,
): string[] {
  const problems: string[] = [];
  if (situation.peripheral !== peripheral)
    problems.push(`the text says that the agent is in ${situation.peripheral ?? 'no peripheral'}`);
  if (situation.mode !== mode) problems.push(`the text says mode ${situation.mode}, and the mode was ${mode}`);
  const unseen = Object.entries(context).filter(
    ([name, value]) => !isBlobReference(value) && !isShown(name, value, situation.state[name]),
  );
  if (unseen.length > 0)
    problems.push(`the text does not show the context values of ${unseen.map(([name]) => name).join(', ')}`);
  const tools = toolsIn(specs, peripheral, mode);
  if (!sameSet(tools, situation.tools))
    problems.push(`the spec grants the tools ${list(tools)}, and the text offers ${list(situation.tools)}`);
  const exits = exitsOf(specs, peripheral);
  if (!sameSet(exits.map(hopText), situation.exits.map(hopText)))
    problems.push(
      `the exits are ${list(exits.map(hopText))}, and the text names ${list(situation.exits.map(hopText))}`,
    );
  return problems;
}

/**
 * The carried context lists the changed files of the last visit; the situation lists the changed files of the whole
 * session.
 */
const isShown = (name: string, value: Json, shown: Json | undefined): boolean =>
  isSameJson(shown, value) ||
  (name === 'changed-files' && Array.isArray(value) && value.every((path) => listOf(shown).includes(path)));

/** Every name in the situation must appear in the text that the agent read. */
function missingInText(
  specs: SpecSet,
  { peripheral, mode, context }: EnteredContext,
  situation: SituationData,
  text: string,
): string[] {
  const without = (names: readonly string[]): string[] =>
    [...new Set(names)].filter((name) => !mentionsName(text, name));
  const exits = exitsOf(specs, peripheral);
  const carried = Object.entries(context).filter(([name, value]) => !NOT_SHOWN.includes(name) && !isEmptyJson(value));
  const isSeen =
    carried.length === 0 || carried.some(([name, value]) => mentionsName(text, name) || showsValue(text, value));
  const seen = [...(mode === null ? [] : without([mode])), ...(isSeen ? [] : carried.map(([name]) => name))];
  const lacks: readonly (readonly [string, readonly string[]])[] = [
    ['where it is', without([peripheral])],
    ['what it sees', seen],
    ['what it can do', without(situation.tools)],
    ['how it can leave', without(exits.map(({ exit }) => exit))],
    ['where it can leave to', without(exits.map(({ to }) => to))],
  ];
  return lacks.flatMap(([what, names]) =>
    names.length === 0 ? [] : [`the text does not tell the agent ${what}: ${list(names)}`],
  );
}

/** Fields that identify the session; an agent does not need them. */
const NOT_SHOWN = ['session-id', 'session-log', 'author'];

const showsValue = (text: string, value: Json): boolean =>
  Array.isArray(value) ? value.some((one) => showsValue(text, one)) : typeof value === 'string' && text.includes(value);

/** True if the text contains the name as a separate word, ignoring case and the form of its dashes. */
export function mentionsName(text: string, name: string): boolean {
  const pattern = name.split('-').map(escapePattern).join('[-_ ]');
  // A client may put the name of the server before the name of a tool, as in mcp__hopgate__read.
  return new RegExp(`(?:(?<![\\w-])|(?<=\\w__))${pattern}(?![\\w]|-\\w)`, 'i').test(text);
}

const escapePattern = (part: string): string => part.replace(/[^\w]/g, '\\$&');

function toolsIn(specs: SpecSet, peripheral: string, mode: string | null): readonly string[] {
  const { modeGate, tools } = specs;
  const allowed = modeGate && mode !== null ? (modeGate.effects[mode] ?? []) : null;
  return (specs.peripherals[peripheral]?.tools ?? []).filter((id) => {
    const effect = tools[id]?.effect;
    return effect !== undefined && (allowed === null || allowed.includes(effect));
  });
}

const exitsOf = (specs: SpecSet, peripheral: string) => specs.edges.filter(({ from }) => from === peripheral);
const hopText = ({ exit, to }: { readonly exit: string | null; readonly to: string }): string => `${to} by ${exit}`;
const list = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  isSameJson([...new Set(a)].sort(), [...new Set(b)].sort());
