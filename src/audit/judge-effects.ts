import type { EffectRecord, OutcomeRecord } from '../evidence/bodies.ts';
import type { ToolSpec } from '../spec/types.ts';
import { hostAllowed } from './hosts.ts';
import { fieldsOf, textOf } from './json.ts';
import { readProblem, scopeInWords, writeProblem } from './judge-call.ts';
import type { Ledger, Visit } from './ledger.ts';
import type { Report } from './report.ts';
import { isFileChange } from './yield.ts';

/** Judges what was seen to happen, whatever the step says of itself. */
export function judgeEffects(
  ledger: Ledger,
  visit: Visit,
  tool: ToolSpec | undefined,
  id: string,
  effects: readonly EffectRecord[],
  report: Report,
): void {
  for (const effect of effects) {
    const about = { tool: id };
    if (isFileChange(effect)) {
      if (tool?.effect !== 'act')
        report.breach('effect', `${id} only looks`, `it was seen to ${effect.op} ${effect.path}`, about);
      const why = writeProblem(ledger, visit.scope, effect.path);
      if (why)
        report.breach(
          'effect',
          scopeInWords(visit, 'path:write'),
          `${effect.op} of ${effect.path} was seen: ${why}`,
          about,
        );
    } else if (effect.op === 'read') {
      const why = readProblem(ledger, visit.scope, effect.path);
      if (why)
        report.breach('effect', scopeInWords(visit, 'path:read'), `${effect.path} was seen to be read: ${why}`, about);
    } else {
      const [constraint, why] = otherProblem(ledger, visit, effect);
      if (why) report.breach('effect', constraint, `${effect.op} of ${effect.path} was seen: ${why}`, about);
    }
  }
}

function otherProblem(
  { pinned }: Ledger,
  { scope }: Visit,
  { op, path }: EffectRecord,
): readonly [string, string | null] {
  switch (op) {
    case 'ref':
      return ['command: deploy', scope.command === 'deploy' ? null : 'no reference moves in this scope'];
    case 'execute':
      return [`command: ${scope.command}`, scope.command === 'none' ? 'this scope runs nothing' : null];
    case 'connect':
      if (scope.command === 'deploy') return ['command: deploy', null];
      if (scope.url === 'none') return ['url: none', 'this scope has no network'];
      return [
        `hosts: ${pinned.config.web.allow.join(', ') || 'none'}`,
        hostAllowed(path, pinned.config.web.allow) ? null : 'not an allowed host',
      ];
    default:
      return ['an effect that is known', 'nothing allows it'];
  }
}

/** What a step reports and no effect bears out: a gap, because nobody saw it. */
export function unconfirmed(outcome: OutcomeRecord, effects: readonly EffectRecord[]): string | null {
  if (outcome.status !== 'ok') return null;
  const result = fieldsOf(outcome.result);
  for (const what of ['committed', 'pushed'] as const) {
    if (result[what] !== true) continue;
    const sha = textOf(result['sha']);
    if (!effects.some(({ op, after }) => op === 'ref' && after === sha))
      return `it reports ${what}, but no reference was seen to move to ${sha}`;
  }
  return null;
}
