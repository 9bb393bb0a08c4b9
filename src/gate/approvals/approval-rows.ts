import { isObject, type Json } from '../../base/json.ts';
import { visible } from '../../base/text.ts';
import type { ApprovalSubject } from './approval.ts';

/** Names the requested hop, mode change or step in a few words. */
export const approvalTitle = ({ action }: Pick<ApprovalSubject, 'action'>): string =>
  action.kind === 'hop'
    ? `the hop ${visible(action.from)} → ${visible(action.to)} (exit ${visible(action.exit)})`
    : action.kind === 'delegate'
      ? `the start of a sub-agent in ${visible(action.to)} from ${visible(action.from)}`
      : action.kind === 'mode'
        ? `mode ${visible(action.from)} → ${visible(action.to)}`
        : `${visible(action.to)} in ${visible(action.from)}`;

/** The rows that a person sees of an approval request: titles and texts, in order; a text may have several lines. */
export function approvalRows({
  view,
}: Pick<ApprovalSubject, 'view'>): readonly (readonly [title: string, text: string])[] {
  return Object.entries(view).flatMap(([title, value]) =>
    isObject(value)
      ? Object.entries(value).map(([name, item]) => [`${title}.${name}`, textOf(item)] as const)
      : [[title, textOf(value)] as const],
  );
}

/** Renders a list with one line for each item. */
function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.length > 0 ? value.map(lineOf).join('\n') : JSON.stringify(value);
}

function lineOf(item: Json): string {
  const parts = isObject(item) ? Object.values(item) : [item];
  const isPlain = (part: Json) => typeof part === 'string' && !part.includes('\n');
  return parts.every(isPlain) ? parts.join(' ') : JSON.stringify(item);
}
