import canonicalize from 'canonicalize';
import { valueOr } from '../../base/value-or.ts';
import type { Fields } from '../../spec/types.ts';
import { sha256 } from '../chain.ts';
import type { EntryDraft } from '../entry.ts';
import { findDraftProblems } from '../entry-schema.ts';
import { isActivityEvent, readActivityEvent } from './activity.ts';
import { isMusnForm, readMusnForm } from './entry-form.ts';
import { type ImportFormProblem, readForms } from './read-forms.ts';

interface ImportPlan {
  /** The root entry, which names the origin, then the imported entries: oldest first, each after its parent. */
  readonly drafts: readonly EntryDraft[];
  readonly ephemeral: readonly EntryDraft[];
  /** Keys of the log that no field of an entry corresponds to. */
  readonly dropped: readonly string[];
}

/**
 * Reads the log of another program (entries or activity events, JSON or EDN) for one session. The same text gives the
 * same plan, so importing twice adds nothing. Problems carry their path: `[3].evidence/type`.
 */
export function planEvidenceImport(
  text: string,
  { sessionId, source }: { readonly sessionId: string; readonly source: string },
): ({ readonly ok: true } & ImportPlan) | { readonly ok: false; readonly problems: readonly ImportFormProblem[] } {
  const read = readForms(text);
  if (!read.ok) return read;
  const problems: ImportFormProblem[] = [];
  const durable: EntryDraft[] = [];
  const ephemeral: EntryDraft[] = [];
  const dropped = new Set<string>();
  const seen = new Map<string, number>();
  for (const [index, form] of read.forms.entries()) {
    const add = (more: readonly ImportFormProblem[]) =>
      problems.push(
        ...more.map(({ path, message }) => ({ path: `[${index}]${path === '' ? '' : `.${path}`}`, message })),
      );
    const result = readOne(form, { id: idOf(form, seen), sessionId });
    if (!result.ok) add(result.problems);
    else if (result.draft.sessionId !== sessionId) {
      add([{ path: '', message: `belongs to session ${result.draft.sessionId}; import it as that session` }]);
    } else {
      for (const key of result.dropped) dropped.add(key);
      (result.ephemeral ? ephemeral : durable).push(result.draft);
    }
  }
  if (problems.length > 0) return { ok: false, problems };
  const ordered = parentsFirst(durable);
  const first = [...ordered, ...ephemeral].reduce((a, b) => (b.at < a.at ? b : a));
  const root = rootOf(text, first, read.forms.length, { sessionId, source });
  return { ok: true, drafts: [root, ...ordered], ephemeral: parentsFirst(ephemeral), dropped: [...dropped] };
}

function readOne(
  form: Fields,
  defaults: { readonly id: string; readonly sessionId: string },
): ReturnType<typeof readMusnForm> {
  if (isMusnForm(form)) return readMusnForm(form, defaults);
  if (!isActivityEvent(form)) {
    const message = 'is neither an entry ("evidence/type", …) nor an event ("event/type", …)';
    return { ok: false, problems: [{ path: '', message }] };
  }
  const draft = readActivityEvent(form, defaults);
  const problems = findDraftProblems(draft);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, draft, ephemeral: false, dropped: [] };
}

/** Derives an id from an event's content and the number of equal events before it in the log. */
function idOf(form: Fields, seen: Map<string, number>): string {
  // A lone surrogate, which has no canonical form, is reported as a problem of the entry.
  const text = valueOr(() => canonicalize(form), '') ?? '';
  const nth = seen.get(text) ?? 0;
  seen.set(text, nth + 1);
  return `e-${sha256(`${text}#${nth}`).slice(0, 32)}`;
}

/** Root entry of an imported session: names the origin of the evidence. */
function rootOf(
  text: string,
  { at, author }: EntryDraft,
  entries: number,
  { sessionId, source }: { readonly sessionId: string; readonly source: string },
): EntryDraft {
  const digest = sha256(text);
  return {
    id: `import-${sha256(`${sessionId} ${digest}`).slice(0, 32)}`,
    at,
    type: 'coordination',
    claim: 'goal',
    subject: { type: 'session', id: sessionId },
    author,
    sessionId,
    peripheral: null,
    mode: null,
    body: { event: 'import', source, sha256: digest, entries },
    tags: ['import'],
  };
}

/** Sorts drafts by time, with each draft after the draft that it replies to or forks. */
function parentsFirst(drafts: readonly EntryDraft[]): EntryDraft[] {
  const byTime = drafts.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const byId = new Map(byTime.map((draft) => [draft.id, draft]));
  const ordered = new Set<EntryDraft>();
  const entered = new Set<EntryDraft>();
  for (const start of byTime) {
    const waiting = [start];
    while (waiting.length > 0) {
      const draft = waiting.at(-1)!;
      const parents = [draft.inReplyTo, draft.forkOf].flatMap((id) => (id === undefined ? [] : (byId.get(id) ?? [])));
      const open = entered.has(draft) ? [] : parents.filter((parent) => !ordered.has(parent) && !entered.has(parent));
      entered.add(draft);
      if (open.length > 0) waiting.push(...open);
      else {
        ordered.add(draft);
        waiting.pop();
      }
    }
  }
  return [...ordered];
}
