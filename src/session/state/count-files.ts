import type { EffectRecord, OutcomeBody, StepBody } from '../../evidence/bodies.ts';
import { FILE_CHANGE_EFFECT_KINDS, NON_FILE_EFFECT_KINDS } from '../../spec/policy/effect-ops.ts';
import { MAX_FILES_IN_SESSION_LOG } from '../../spec/policy/limits.ts';
import { mergeFileLists } from './observations.ts';
import type { SessionFacts } from './session-state.ts';

export function addFilesOfStep(facts: SessionFacts, { event, effects }: StepBody | OutcomeBody): SessionFacts {
  if (effects === 'unobserved') return event === 'outcome' ? withChanged(facts, []) : facts;
  const named = effects.filter(({ op }) => !NON_FILE_EFFECT_KINDS.includes(op)).map(({ path }) => path);
  const files = mergeFileLists(facts.files, named, MAX_FILES_IN_SESSION_LOG);
  const changed = effects.filter(({ op }) => FILE_CHANGE_EFFECT_KINDS.includes(op));
  const counted = changed.length > 0 ? withChanged(facts, changed) : facts;
  return files === facts.files ? counted : { ...counted, files };
}

/** A list of changes is compacted when it is longer than twice its number of paths plus this number. */
const REPEATS = 64;

/**
 * Adds changes to the list `changes`, which may contain a path twice: appending is quick, and an object with as many
 * keys would take longer to copy than the rest of a step.
 */
function withChanged(facts: SessionFacts, changed: readonly EffectRecord[]): SessionFacts {
  const before = facts.backpack['changed-files'];
  const changedBefore = Array.isArray(before) ? (before as readonly string[]) : [];
  const paths = changed.map(({ path }) => path);
  const all = mergeFileLists(changedBefore, paths, Number.POSITIVE_INFINITY);
  const list = [...facts.changes, ...changed.map(({ path, after }) => Object.freeze([path, after ?? null] as const))];
  const isLong = list.length > 2 * all.length + REPEATS;
  const changes = Object.freeze(isLong ? [...new Map(list)] : list);
  const isSame = all === before;
  const backpack = isSame
    ? facts.backpack
    : { ...facts.backpack, 'changed-files': Object.freeze([...all]) as string[] };
  return { ...facts, changes, backpack: Object.freeze(backpack) };
}
