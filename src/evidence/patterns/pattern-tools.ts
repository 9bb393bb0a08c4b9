import { type Fields, fieldsOf, type Json } from '../../base/json.ts';
import type { Body, OutcomeRecord } from '../bodies.ts';
import type { ClaimType, EvidenceType } from '../entry.ts';
import { HELD_BY_OUTCOME, parsePatternOutcome } from './pur.ts';

/** The entry of a discipline tool: its subject, its parent, and its effect on the pattern. */
interface DisciplineTool {
  readonly type: EvidenceType;
  readonly claim: ClaimType;
  readonly tag: string;
  /** The entry's subject: the pattern that it names, or the session. */
  readonly subject: 'pattern' | 'session';
  /** The parent of the entry: the selection of its pattern, or the same entry of the visit as for a step. */
  readonly repliesTo: 'visit' | 'selection';
  /** Effect of a successful call on the pattern. */
  readonly does: 'selects' | 'settles' | null;
}

const OF_SESSION = { subject: 'session', repliesTo: 'visit', does: null } as const;
const SETTLES = { subject: 'pattern', repliesTo: 'selection', does: 'settles' } as const;
const SELECTS = { subject: 'pattern', repliesTo: 'visit', does: 'selects' } as const;

/** The tools that select patterns and record their outcomes. Any peripheral of a spec set may offer them. */
export const PATTERN_TOOLS: { readonly [tool: string]: DisciplineTool } = {
  'psr-search': { type: 'pattern-selection', claim: 'question', tag: 'psr', ...OF_SESSION },
  'psr-select': { type: 'pattern-selection', claim: 'goal', tag: 'psr', ...SELECTS },
  'pur-update': { type: 'pattern-outcome', claim: 'evidence', tag: 'pur', ...SETTLES },
  'pur-mark-pivot': { type: 'correction', claim: 'correction', tag: 'pivot', ...SETTLES },
  'par-punctuate': { type: 'reflection', claim: 'conclusion', tag: 'par', ...OF_SESSION },
};

/** Syntax of a pattern id: `read-before-edit`, `agent/scope-before-action`. */
export const PATTERN_ID_SYNTAX = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)*$/;

/**
 * If an entry records a successful call of a discipline tool, returns the tool and its pattern; null for any other
 * entry.
 */
export function patternToolOfEntry(body: Body): (DisciplineTool & { readonly pattern: string | null }) | null {
  if (body.event !== 'step' || body.outcome?.status !== 'ok' || !Object.hasOwn(PATTERN_TOOLS, body.tool)) return null;
  const rule = PATTERN_TOOLS[body.tool];
  return rule
    ? { ...rule, pattern: rule.subject === 'pattern' ? patternIn(body.outcome.result, body.args) : null }
    : null;
}

/** Returns the status of a pattern after a call; null if the call does not change one. */
export function patternStatusAfter(
  tool: string,
  outcome: OutcomeRecord,
): { readonly pattern: string; readonly status: 'selected' | 'held' | 'failed'; readonly selects: boolean } | null {
  const does = Object.hasOwn(PATTERN_TOOLS, tool) ? PATTERN_TOOLS[tool]?.does : null;
  if (!does || outcome?.status !== 'ok') return null;
  const pattern = patternIn(outcome.result);
  if (pattern === null) return null;
  if (does === 'selects') return { pattern, status: 'selected', selects: true };
  const { held, outcome: word } = fieldsOf(outcome.result);
  const recordedOutcome = parsePatternOutcome(word);
  const holds = typeof held === 'boolean' ? held : recordedOutcome ? HELD_BY_OUTCOME[recordedOutcome] : false;
  return { pattern, status: holds === null ? 'selected' : holds ? 'held' : 'failed', selects: false };
}

function patternIn(result: Json, args: Fields = {}): string | null {
  const pattern = fieldsOf(result)['pattern'] ?? args['pattern'];
  return typeof pattern === 'string' && PATTERN_ID_SYNTAX.test(pattern) ? pattern : null;
}
