import { z } from 'zod';
import { fieldsOf, textOf } from '../base/json.ts';
import { plural } from '../base/text.ts';
import { toBody } from '../evidence/bodies.ts';
import { changedFilesInRequest } from '../gate/approvals/grant.ts';
import { effectiveScope } from '../gate/decide-step.ts';
import { writePathReason } from '../gate/scope/write-paths.ts';
import type { ApprovalRequest } from '../ports/approver.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import type { SessionPin } from '../session/pin.ts';
import { effectsOfMode } from '../spec/mode-way.ts';
import { APPROVAL_FIELD_TITLES } from '../spec/policy/approval-fields.ts';
import type { TreeDiff } from '../tools/tree/tree-diff.ts';
import { MillisSchema } from './schemas.ts';

export const ApprovalCardSchema = z.object({
  message: z.string().nullable().describe('The message of the commit that a yes allows.'),
  opens: z.string().describe('The peripheral, mode or call that a yes allows, and its limits.'),
  tests: z
    .object({ at: MillisSchema, verdict: z.string(), command: z.string() })
    .nullable()
    .describe('The last run of the tests; null if none is recorded.'),
  changed: z.array(z.string()).describe('The changed files: of the session, and of the commit.'),
  files: z
    .array(
      z.object({
        path: z.string(),
        inside: z.boolean().describe('False if no peripheral of the session may write it.'),
        lines: z.array(z.string()),
      }),
    )
    .describe('The diff by file; files inside of the scope come first.'),
  staysBehind: z.array(z.string()).describe('Changed files that were tested and are not shipped.'),
});

/** Summarises a request for the person who answers it: its commit, tests, effect and diff. */
export async function makeApprovalCard(
  request: ApprovalRequest,
  pin: SessionPin,
  diff: TreeDiff | null,
  store: EvidenceStore,
): Promise<z.output<typeof ApprovalCardSchema>> {
  const { view } = request;
  const ships = fieldsOf(view[APPROVAL_FIELD_TITLES.ships]);
  const left = ships['left'];
  return {
    message: textOf(fieldsOf(view[APPROVAL_FIELD_TITLES.context])['commit-message']),
    opens: opensOf(request, pin),
    tests: await lastTests(store, request.sessionId),
    changed: [...changedFilesInRequest(view, fieldsOf(view[APPROVAL_FIELD_TITLES.changes]))],
    files: diff ? byFile(diff.lines, pin) : [],
    staysBehind: Array.isArray(left) ? left.map(String) : [],
  };
}

function opensOf({ action: { kind, from, to } }: ApprovalRequest, { specs }: SessionPin): string {
  if (kind === 'step') return `one call of ${to} in ${from}`;
  if (kind === 'mode') {
    const idle = specs.modeGate?.timeoutMinutes;
    return `mode ${to}: tools may ${effectsOf(specs, to)}${idle ? `, until ${plural(idle, 'minute')} without an entry` : ''}`;
  }
  const target = Object.hasOwn(specs.peripherals, to) ? specs.peripherals[to] : undefined;
  const { minutes = null, steps = null } = target?.limits ?? {};
  const limits = [
    ...(minutes === null ? [] : [plural(minutes, 'minute')]),
    ...(steps === null ? [] : [plural(steps, 'step')]),
  ];
  return `${kind === 'delegate' ? 'a sub-agent in ' : ''}${to}: ${target?.tools.join(', ') || 'no tools'}, ${limits.length === 0 ? 'until the agent leaves it' : `for at most ${limits.join(' and ')}`}`;
}

const effectsOf = ({ modeGate }: SessionPin['specs'], mode: string): string =>
  (modeGate ? effectsOfMode(modeGate, mode) : []).join(', ') || 'do nothing';

/** Maximum number of entries to search for the last run of the tests. */
const MAX_SEARCHED_ENTRIES = 500;

async function lastTests(store: EvidenceStore, sessionId: string) {
  const { entries } = await store.query({ sessionId, limit: MAX_SEARCHED_ENTRIES });
  for (const { entry } of entries) {
    const body = toBody(entry.body);
    if ((body?.event !== 'outcome' && body?.event !== 'step') || body.outcome.status !== 'ok') continue;
    const { verdict, command } = fieldsOf(body.outcome.result);
    if (typeof verdict !== 'string') continue;
    return { at: Date.parse(entry.at), verdict, command: Array.isArray(command) ? command.join(' ') : '' };
  }
  return null;
}

/** Splits a git diff by file. Files in some peripheral's write scope (`inside`) come first. */
function byFile(lines: readonly string[], { specs, config }: SessionPin): z.output<typeof ApprovalCardSchema>['files'] {
  const writes = Object.keys(specs.peripherals).map((id) => effectiveScope(specs, config, id).write);
  const files: { path: string; inside: boolean; lines: string[] }[] = [];
  for (const line of lines) {
    const [, path] = /^diff --git .* "?b\/(.*?)"?$/.exec(line) ?? [];
    if (path !== undefined || files.length === 0) {
      const inside = path === undefined || writes.some((write) => writePathReason(path, write) === null);
      files.push({ path: path ?? '', inside, lines: [] });
    }
    files.at(-1)!.lines.push(line);
  }
  return files.toSorted((a, b) => Number(b.inside) - Number(a.inside));
}
