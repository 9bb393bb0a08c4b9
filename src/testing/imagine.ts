import { type Asked, contextFor, expected, fruitNow } from '../audit/expected.ts';
import { looksBack } from '../audit/form.ts';
import type { Pinned } from '../audit/ledger.ts';
import { afterBody, type Standing } from '../audit/standing.ts';
import type { Body } from '../evidence/bodies.ts';
import type { ToolReport } from '../ports/tool-backend.ts';
import type { Json } from '../spec/types.ts';
import { type Move, SEEN } from './moves.ts';

/** Where a session would stand after a lawful move, or one that is made to be refused: what a planner thinks, before anything runs. Pure. */
export function imagine(pinned: Pinned, standing: Standing, { asked, report, refused }: Move): Standing {
  if (refused) return afterBody(pinned, standing, REFUSAL, standing.lastAt, standing.sessionId || 'planned');
  return imaginedBodies(pinned, standing, asked, report ?? SEEN).reduce(
    (now, body) =>
      body === 'enter'
        ? enter(pinned, now, asked)
        : afterBody(pinned, now, body, now.lastAt, now.sessionId || 'planned'),
    standing,
  );
}

const REFUSAL: Body = { event: 'denial', request: {}, code: 'unknown-tool', message: '', remedy: '', about: {} };

function enter(pinned: Pinned, now: Standing, asked: Asked): Standing {
  const id = asked.kind === 'start' ? asked.peripheral : asked.kind === 'hop' ? asked.to : '';
  const given = asked.kind === 'start' ? (asked.context ?? {}) : {};
  const { context } = contextFor(pinned.specs.peripherals[id]!, now, given);
  const body: Body = { event: 'start', peripheral: id, by: 'agent', context, deadline: null, facts: null };
  return afterBody(pinned, now, body, now.lastAt, now.sessionId);
}

function imaginedBodies(pinned: Pinned, now: Standing, asked: Asked, report: ToolReport): readonly (Body | 'enter')[] {
  const spec = now.visit ? pinned.specs.peripherals[now.visit.peripheral] : undefined;
  const left = (exit: string | null, stated: { readonly [field: string]: Json }): Body[] => {
    if (!spec) return [];
    const par: Body[] = looksBack(spec) ? [{ event: 'par', par: {} }] : [];
    const before = par.reduce((at, body) => afterBody(pinned, at, body, at.lastAt, at.sessionId), now);
    const fruit = fruitNow(pinned, before, stated);
    return [...par, { event: 'stop', peripheral: spec.id, reason: 'because', by: 'agent', fruit, exit }];
  };
  switch (asked.kind) {
    case 'start':
      return ['enter'];
    case 'hop':
      return [...left(asked.exit ?? '', asked.fruit ?? {}), 'enter'];
    case 'stop':
      return left(null, asked.fruit ?? {});
    case 'step': {
      const { outcome, effects } = report;
      const acting = pinned.specs.tools[asked.tool]?.effect === 'act';
      const result = { tool: asked.tool, outcome: outcome as never, effects: effects as never };
      return [acting ? { event: 'outcome', ...result } : { event: 'step', args: {}, ...result }];
    }
    case 'mode':
      return [
        {
          event: 'mode',
          from: now.mode!,
          to: asked.to as never,
          how: 'transition',
          by: asked.by,
          summary: null,
          reason: null,
          exitCriteria: null,
          approval: null,
          facts: {},
        },
      ];
    case 'close':
      return [{ event: 'session-closed', reason: 'done', by: 'agent' }];
    default:
      return asked satisfies never;
  }
}

/** Whether the spec lets a move through where a session stands. */
export const isLawful = (pinned: Pinned, standing: Standing, { asked }: Move): boolean =>
  expected(pinned, standing, asked, standing.lastAt).ok;
