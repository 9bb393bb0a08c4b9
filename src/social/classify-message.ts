import { fieldsOf, isObject } from '../base/json.ts';
import { splitWords } from '../base/text.ts';
import { MAX_MESSAGE_CHARS } from '../messages/speech-acts.ts';
import type { Json, ToolEffect } from '../spec/types.ts';
import { splitIntoClauses } from './clauses.ts';
import type { TalkPattern } from './talk-patterns.ts';
import { baseVerbOf, effectAskedByVerb, mayBeVerb } from './verbs.ts';

export type MessageTalkKind = 'coordination' | 'action';

export interface ClassifiedMessage {
  readonly talk: MessageTalkKind;
  /** The effect that the message asks for. Coordination asks for `coordinate`. */
  readonly asks: ToolEffect;
  /** The rule that decided: `typed`, `untyped`, `order`, `statement`, or the id of a pattern. */
  readonly by: string;
}

/** The types of typed payloads that only coordinate. */
const COORDINATION_TYPES: ReadonlySet<unknown> = new Set(splitWords('standup handoff coordination bell whistle page'));

/**
 * Classifies a payload. A typed payload is decided by its fields alone; a text by the patterns. Without patterns every
 * text asks for an action; so does a text that is too long to be sent. Pure.
 *
 * @example
 * classifyMessage('Fix the tests.', TALK_PATTERNS) // { talk: 'action', asks: 'act', by: 'order' }
 * classifyMessage({ type: 'handoff' }, TALK_PATTERNS) // { talk: 'coordination', asks: 'coordinate', by: 'typed' }
 */
export function classifyMessage(payload: Json, patterns: readonly TalkPattern[]): ClassifiedMessage {
  if (isObject(payload)) {
    const { coordination, type } = fieldsOf(payload);
    return asClassified(coordination === true || COORDINATION_TYPES.has(type) ? 'coordinate' : 'act', 'typed');
  }
  if (typeof payload !== 'string' || patterns.length === 0 || payload.length > MAX_MESSAGE_CHARS)
    return asClassified('act', 'untyped');
  const found = splitIntoClauses(payload).map((clause) => classifyClause(clause, patterns));
  return found.reduce(
    (most, each) => (RANK[each.asks] > RANK[most.asks] ? each : most),
    found[0] ?? asClassified('coordinate', 'statement'),
  );
}

const RANK: { readonly [effect in ToolEffect]: number } = { coordinate: 0, observe: 1, simulate: 2, act: 3 };

const asClassified = (asks: ToolEffect, by: string): ClassifiedMessage => ({
  talk: asks === 'coordinate' ? 'coordination' : 'action',
  asks,
  by,
});

/** Maximum number of introductory phrases that are removed from a clause. */
const MAX_OPENINGS = 8;

function classifyClause(clause: string, patterns: readonly TalkPattern[]): ClassifiedMessage {
  const found = classifyWhole(clause, patterns);
  const tail = TAIL.exec(clause)?.groups?.['tail'];
  if (found.asks !== 'coordinate' || tail === undefined || NO_TAIL.test(clause)) return found;
  const first = tail.split(' ')[0]!;
  if (!/^(?:can|could|would|will|please|just|now|then)$/.test(first) && effectAskedByVerb(first) === null) return found;
  return classifyClause(tail, patterns);
}

/** Matches a statement with a request after its comma: "the disk is full, free some space". */
const TAIL =
  /(?:,| but)\s+(?<tail>(?:(?:can|could|would|will) you\b|(?:please |just |now |then )*[a-z-]+ (?:the|a|an|it|this|that|these|those|them|some|all|any|every|my|our|your)\b|please [a-z-]+[.!]*$|please do (?:so|it|that|this)\b|take care of \S|start [a-z]+ing\b).*)$/;
/** Matches clauses in which a comma separates parts of one statement or question, not a request. */
const NO_TAIL =
  /^(?:please )?(?:do not|don't|never|no need|nobody|no one|avoid|leave|who|what|when|where|why|which|how|did|does|do you|is|are|was|were|have|has|had|should|shall|he|she|they|[a-z]+ (?:said|says|told|asked))\b/;

function classifyWhole(clause: string, patterns: readonly TalkPattern[]): ClassifiedMessage {
  let text = clause;
  for (let left = MAX_OPENINGS; ; left--) {
    const pattern = patterns.find(({ when }) => when.test(text));
    if (!pattern) return orderOrStatement(text);
    if (pattern.asks) return asClassified(pattern.asks, pattern.id);
    const rest = pattern.when.exec(text)?.groups?.['rest'];
    if (rest === undefined) return asClassified('coordinate', pattern.id);
    if (!pattern.open || left === 0) return asClassified(effectOfRequest(rest), pattern.id);
    text = rest;
  }
}

/** Matches requests that only schedule a conversation. */
const MEETING =
  /^(?:\w+ly )?(?:move|shift|schedule|set up|arrange|book|cancel|postpone|have|do) (?:a|an|the|our|this|another) (?:\w+ )?(?:meeting|call|sync|chat|standup|retro)\b/;

/** The effect of a request: its first verb decides, and an unknown verb acts. */
function effectOfRequest(request: string): ToolEffect {
  if (/^(?:not|never)\b/.test(request) || MEETING.test(request)) return 'coordinate';
  const text = request.replace(
    /^(?:to |please |also |then |now |just |try (?:and|to) |go (?:and )?|have (?=a look|another look))+/,
    '',
  );
  if (
    /^(?:give|send|show) (?:me|us) (?:a |an |the |your |some )?(?:status|update|eta|ping|hint|moment|minute|feedback|heads)/.test(
      text,
    )
  )
    return 'coordinate';
  if (/^(?:take|have|give it) (?:a|another|one more)?\s*(?:quick |close |closer |second |fresh )?look\b/.test(text))
    return laterEffect(text, 'observe');
  const [first = '', ...rest] = text.split(/[\s,]+/).map((word) => word.replace(/(?<![.!?])[.!?]+$/, ''));
  const word = /ly$/.test(first) && effectAskedByVerb(first) === null ? (rest[0] ?? '') : first;
  const effect = effectAskedByVerb(baseVerbOf(word)) ?? 'act';
  return effect === 'act' ? 'act' : laterEffect(text, effect);
}

/** The strongest effect among `first` and the verbs after "and", "then" or a comma: `look into it and fix it` acts. */
function laterEffect(text: string, first: ToolEffect): ToolEffect {
  const later = [
    ...text.matchAll(
      /(?:\band(?: then)?|\bthen|,) (?:please |then )?(?!get\b|go\b|come\b|give\b)([a-z-]+)(?= (?:the|a|an|it|this|that|them|these|those|all|any|every|each|my|our|your|its|thing|back|up|out|down|off)\b)/g,
    ),
  ]
    .map((match) => effectAskedByVerb(match[1]!))
    .filter((effect) => effect !== null);
  return [first, ...later].reduce((most, each) => (RANK[each] > RANK[most] ? each : most));
}

/** Matches words that may follow the verb of an order. The word before such a word is then the verb. */
const OBJECT =
  /^(?:the|a|an|this|that|these|those|it|them|my|our|your|all|any|every|each|both|its|his|her|their|me|us|everything|everyone|whatever|what|thing|another|some|only|no|up|out|down|off|back|over|into|for|two|three|why|whether|if|how|where|when|which|who)$/;
/** Matches verbs that make the words before them a subject, unless a relative clause begins: "tests that failed". */
const FINITE =
  /(?<!\b(?:that|which|who|it|they|we|you|i) )\b(?:should|must|would|might|points (?:at|to)|lives? in|contains|depends on|belongs|remains|means|expects|throws|introduced|caused|is|are|was|were|isn't|aren't|wasn't|has|have|had|hasn't|failed|fails|passed|passes|finished|succeeded|landed|looks?|seems?|went|broke|breaks|came|took|takes|will|won't|can|can't|cannot|got|needs?|does|doesn't|did|didn't|works?|worked|says?|said|hangs?|crashed|crashes|timed|starts|started|stopped|exists?|done|complete|completed|ready|pending|merged|in progress|moved|sounds)\b/;

/** Matches a participle before its noun: "delete merged branches". */
const ATTRIBUTE =
  /^(?:failed|merged|moved|completed|crashed|stopped|landed) (?!this|was|is|has|as|always|its|us|because)[a-z-]+s\b/;
/** Matches compound nouns that begin with a word that is also a verb. */
const NOUN =
  /^(?:merge conflicts?|build (?:failures?|times?|errors?|logs?)|test (?:failures?|coverage|results?|data)|release notes?|commit messages?|load times?|run logs?|push notifications?)\b/;

function orderOrStatement(clause: string): ClassifiedMessage {
  const words = clause.replace(/^(?:(?!(?:ap|re|sup)ply )\w+ly )+/, '').split(/\s+/);
  const first = (words[0] ?? '').replace(/(?<![.,!?:…])[.,!?:…]+$/, '');
  const second = (words[1] ?? '').replace(/(?<![.,!?])[.,!?]+$/, '');
  const listedEffect = effectAskedByVerb(first);
  if (listedEffect === null && !mayBeVerb(first)) return asClassified('coordinate', 'statement');
  if (clause.endsWith('?') && listedEffect === null) return asClassified('coordinate', 'statement');
  if (words.length === 1)
    return asClassified(listedEffect ?? 'coordinate', listedEffect === null ? 'statement' : 'order');
  const isObject = OBJECT.test(second);
  if (second === 'of' || NOUN.test(clause)) return asClassified('coordinate', 'statement');
  if (!isObject && !ATTRIBUTE.test(words.slice(1, 3).join(' ')) && FINITE.test(words.slice(1, 5).join(' ')))
    return asClassified('coordinate', 'statement');
  if (listedEffect === null && !isObject && !/[./@#_]/.test(second)) return asClassified('coordinate', 'statement');
  if (listedEffect === null && FINITE.test(words.slice(2, 5).join(' '))) return asClassified('coordinate', 'statement');
  return asClassified(effectOfRequest(words.join(' ')), 'order');
}
