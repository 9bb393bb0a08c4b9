import { shorten } from '../../../base/text.ts';
import type { Available } from '../../../gate/denial.ts';
import type { SpecSet } from '../../../spec/types.ts';
import { type AgentSentence, findAgentSentences } from './agent-sentences.ts';
import { EXITS_REQUIRING_ALL_TESTS, exitPhrases, hopPhrases, readyToEnterPattern } from './exit-phrases.ts';

/** The exit that an agent's words seem to name. Only a hint: a session moves only by a hop that the gate allows. */
export interface DetectedExit {
  readonly exit: string;
  readonly to: readonly string[];
  /** The sentence in which the agent named the exit; it becomes the reason of the hop. */
  readonly reason: string;
  /** `low` if the agent expressed doubt ("I think", "seems"). */
  readonly confidence: 'high' | 'low';
}

interface OpenExit {
  readonly exit: string;
  readonly to: readonly string[];
}

/**
 * Finds the exit of the peripheral that a talk-only agent names in its own words; null if it names none. Pass only the
 * agent's own messages. Quotes, code and copied tool output are ignored, and so are negations, questions, conditions
 * and statements about others. The last sentence that names an exit counts.
 *
 * @example
 // { exit: 'ready-to-edit', to: ['edit'], … }
 * detectExit(specs, 'explore', 'The bug is in cart.js. I am ready to edit.');
 * detectExit(specs, 'explore', 'I am not ready to edit.'); // null
 */
export function detectExit(specs: SpecSet, peripheral: string, text: string): DetectedExit | null {
  const edges = specs.edges.filter(({ from }) => from === peripheral);
  return detectExitAmong(exitsOf(edges), text);
}

export const listOpenExits = ({ hops }: Pick<Available, 'hops'>): readonly OpenExit[] =>
  exitsOf(hops.flatMap(({ exit, to }) => (exit === null ? [] : [{ exit, to }])));

function exitsOf(edges: readonly { readonly exit: string; readonly to: string }[]): readonly OpenExit[] {
  const names = [...new Set(edges.map(({ exit }) => exit))];
  return names.map((exit) => ({ exit, to: edges.filter((edge) => edge.exit === exit).map(({ to }) => to) }));
}

/** Maximum number of sentences that are read, from the end: agents announce their next action last. */
const MAX_SENTENCES = 100;

/** Detects an exit as `detectExit` does, among these exits. */
export function detectExitAmong(exits: readonly OpenExit[], text: string): DetectedExit | null {
  if (typeof text !== 'string') return null;
  for (const sentence of findAgentSentences(text).slice(-MAX_SENTENCES).toReversed()) {
    const found = exitNamedIn(exits, sentence);
    if (found === 'undecided') return null;
    if (found) return found;
  }
  return null;
}

interface Hit {
  readonly exit: string;
  readonly to: readonly string[];
  /** True if the sentence names a hop, which has priority over a described state. */
  readonly isHop: boolean;
  readonly at: number;
  readonly length: number;
}

/** The exit that one sentence names; `undecided` if it names two, or withdraws its statement. */
function exitNamedIn(exits: readonly OpenExit[], { text, question }: AgentSentence): DetectedExit | 'undecided' | null {
  if (question) return null;
  const hits = [...namedHops(exits, text), ...findStatements(exits, text)].filter(
    ({ exit, isHop: named, at, length }) =>
      isMeant(text, at, at + length) &&
      (named || !EXITS_REQUIRING_ALL_TESTS.has(exit) || !isPartial(text, at, at + length)),
  );
  const strongest = hits.filter(({ isHop: named }) => named === hits.some((hit) => hit.isHop));
  // "ready to commit" is more specific than "ready": of two matches at one position, the longer one counts.
  const [best, ...others] = strongest.toSorted((a, b) => b.length - a.length || a.at - b.at);
  if (!best) return null;
  const apart = others.filter(({ at, length }) => at + length <= best.at || at >= best.at + best.length);
  if (apart.some(({ exit }) => exit !== best.exit)) return 'undecided';
  return { exit: best.exit, to: best.to, reason: shortenText(text), confidence: HEDGE.test(text) ? 'low' : 'high' };
}

/** "hop to X" means the exit `hop-X` if it exists, else the first exit that leads to X. */
function namedHops(exits: readonly OpenExit[], text: string): readonly Hit[] {
  const targets = [...new Set(exits.flatMap(({ to }) => to))];
  return targets.flatMap((to) => {
    const leading = exits.filter((each) => each.to.includes(to));
    const ready = exits.some((each) => each.exit === `ready-to-${to}`) ? [] : [readyToEnterPattern(to)];
    const exit = leading.find((each) => each.exit === `hop-${to}`) ?? leading[0];
    return exit
      ? findMatches([...hopPhrases(to), ...ready], text).map((match) => ({
          exit: exit.exit,
          to: [to],
          isHop: true,
          ...match,
        }))
      : [];
  });
}

const findStatements = (exits: readonly OpenExit[], text: string): readonly Hit[] =>
  exits.flatMap(({ exit, to }) =>
    findMatches(exitPhrases(exit), text).map((match) => ({ exit, to, isHop: false, ...match })),
  );

const findMatches = (patterns: readonly RegExp[], text: string): readonly { at: number; length: number }[] =>
  patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({ at: match.index, length: match[0].length })),
  );

const HEDGE =
  /\b(?:i think|i believe|i guess|seems?|seemingly|looks like|appears?|probably|likely|apparently|presumably|i suppose|as far as i)\b/i;

/** Words before the match, in its clause, that negate the match, postpone it, or attribute it to somebody else. */
const NEGATED =
  /\b(?:not|no|never|none|neither|nor|without|cannot|nothing|nobody|nowhere|doubt|hardly|barely|far from|unable|refuse[sd]?|avoid(?:ed|ing)?|stop(?:ped)?|instead of|rather than|no longer|fail(?:ed|s)? to|0|zero)\b|n't\b/i;
const SUPPOSED =
  /\b(?:if|unless|until|till|when|whenever|once|whether|while|before|after|as soon as|in case|assuming|provided|suppos(?:e|ing)|being|should|would(?! like)|could|(?<!now (?:i|we) )can(?! now)|might|may|must|maybe|perhaps|hopefully|hope|hoping|wish|try(?:ing)?|tried|check(?:ing|ed|s)?|verif(?:y|ying|ied)|ensure|make sure|confirm(?:ing)?|see that|expect(?:ed|s|ing)?|wait(?:ing)?|almost|nearly|soon|eventually|later|tomorrow|partly|halfway|how|why|what|which|where|requires?|need(?:s|ed)?(?! to$)|will be|'ll be|so that|to make|to get|to have|wants? (?:me|the|my|all)|goal|aim|plan is|todo|yet to|previously|earlier|yesterday|last time|used to|were|had|example|e\.g|i\.e)\b/i;
const OF_OTHERS =
  /\b(?:says?|said|reads|states?|stated|prints?|printed|logs?|logged|outputs?|messages?|according to|quot(?:e|es|ed|ing)|mentions?|mentioned|comment|comments|readme|document(?:s|ed|ation)?|docs|titled?|called|named|labell?ed|word|string|flag|variable|status code|exits?|options?|available|possible|possibl[ey]|allowed|you|your|they|he|she|someone|anyone|users?(?! (?:request|ask|want)|'s request)|reviewers?|colleague|other agents?|another|thread|threads|process|requests are|function|spec|rule|tool|command|hook|ci|stack overflow|article)\b/i;
/** Words after the match that put it under a condition or withdraw it. */
const TAKEN_BACK =
  /^[^.!]*?(?:\b(?:if|once(?= \w)|unless|until|when|as soon as|provided|assuming|after)\b|^ would\b|\blast (?:week|month|year|night|time)\b|\bago\b|\b(?:is|are|was|were|would be) (?:not|n't|wrong|false|premature|too early|unlikely|the (?:wrong|goal|plan|question))|\bisn't\b|, (?:or )?not\b|\bnot yet\b|\bnot?$|\beventually\b|\blater\b|\btomorrow\b|\bsoon\b)/i;
/** Words before a hop that state an intention, such as "I want to"; such a sentence counts as a hop. */
const WANTS =
  /\b(?:want|going|like|need|have|ready|decided?|time|about|plan|ought|choose|chose|propose|request|ask|asking|like) to$/i;

/** True if `text` between `from` and `to` is an unconditional statement of the agent. */
function isMeant(text: string, from: number, to: number): boolean {
  const before = text.slice(0, from);
  const clause = before.slice(lastBreak(before)).trim();
  // Words before a colon may attribute the words after it to a source: "the document says: …".
  const attribution = before.slice(lastBreak(before.replaceAll(':', ' ')));
  const match = text.slice(from, to);
  if (/\u0000/.test(match) || /^(?:0|zero|no)\b/i.test(match) || /\b(?:0|zero) tests?\b/i.test(match)) return false;
  if (NEGATED.test(clause) || SUPPOSED.test(clause) || OF_OTHERS.test(attribution)) return false;
  // A condition applies to the rest of the sentence.
  if (
    /^(?:if|unless|until|when|whenever|once|whether|before|after|suppose|assuming|as soon as|for example|had|were)\b/i.test(
      text,
    )
  )
    return false;
  if (/\bto$/i.test(clause) && !WANTS.test(clause)) return false;
  return !TAKEN_BACK.test(text.slice(to));
}

/** Phrases that limit a statement to a part of the tests, or to the tests of some files. */
const PARTIAL = /\b(?:only|some|half|few|many|most|several|part|partially|almost all|\d+ (?:out )?of (?:the )?\d+)\b/i;
const ONLY_THERE = /^[^.!,]*\b(?:only|except|apart from|but not|alone)\b/i;

const isPartial = (text: string, from: number, to: number): boolean =>
  PARTIAL.test(text.slice(lastBreak(text.slice(0, from)), to)) || ONLY_THERE.test(text.slice(to));

/** The index at which the last clause of a text starts. */
function lastBreak(before: string): number {
  const breaks = [
    ...before.matchAll(
      /,(?! (?:which|who))|:|\s[-–—]\s|—|\bbut\b|\bhowever\b|\bso\b(?! that)|\bthus\b|\bhence\b|\btherefore\b|\bthen\b|\band\b(?= (?:i|we|the|all|my|it|now|hop)\b)/gi,
    ),
  ];
  const last = breaks.at(-1);
  return last ? last.index + last[0].length : 0;
}

const MAX_CHARS = 200;
const shortenText = (text: string): string => {
  const plain = text
    .split('\u0000')
    .map((part) => part.trim())
    .join(' … ')
    .trim();
  return shorten(plain, MAX_CHARS);
};
