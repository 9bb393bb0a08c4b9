import { isObject, type Json } from '../../base/json.ts';
import { escapeInvisible } from '../../base/text.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import type { ApprovalSubject } from './approval.ts';

/** Names the requested hop, mode change or step in a few words. */
export const approvalTitle = ({ action }: Pick<ApprovalSubject, 'action'>): string =>
  action.kind === 'hop'
    ? `the hop ${escapeInvisible(action.from)} → ${escapeInvisible(action.to)} (exit ${escapeInvisible(action.exit)})`
    : action.kind === 'delegate'
      ? `the start of a sub-agent in ${escapeInvisible(action.to)} from ${escapeInvisible(action.from)}`
      : action.kind === 'mode'
        ? `mode ${escapeInvisible(action.from)} → ${escapeInvisible(action.to)}`
        : `${escapeInvisible(action.to)} in ${escapeInvisible(action.from)}`;

/** The rows that a person sees of an approval request: title and text, which may have several lines. */
export function approvalRows({
  view,
}: Pick<ApprovalSubject, 'view'>): readonly (readonly [title: string, text: string])[] {
  return Object.entries(view).flatMap(([title, value]) =>
    isObject(value)
      ? Object.entries(value).map(([name, item]) => [`${title}.${name}`, renderValue(title, item)] as const)
      : [[title, renderValue(title, value)] as const],
  );
}

/**
 * The parts of a request whose lists hopgate itself makes. The objects in them are shown as their values, without keys.
 */
const OWN_LISTS: readonly string[] = [APPROVAL_FIELD_TITLES.install, APPROVAL_FIELD_TITLES.ships];

/** Renders a list with one line for each item. Objects of an agent keep their keys: `{"from":"a","to":"b"}`. */
function renderValue(title: string, value: Json): string {
  const lineOf = (item: Json): string => {
    const parts = isObject(item) && OWN_LISTS.includes(title) ? Object.values(item) : [item];
    const isPlain = (part: Json) => typeof part === 'string' && !part.includes('\n');
    return parts.every(isPlain) ? parts.join(' ') : JSON.stringify(item);
  };
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.length > 0 ? value.map(lineOf).join('\n') : JSON.stringify(value);
}
