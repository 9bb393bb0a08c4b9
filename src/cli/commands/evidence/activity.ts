import { Option } from 'commander';
import { escapeInvisible, excerpt } from '../../../base/text.ts';
import type { FoundEntry } from '../../../evidence/evidence-query.ts';
import { toActivityEvent } from '../../../evidence/musn/activity.ts';
import { printMusnForm, toMusnForm } from '../../../evidence/musn/entry-form.ts';
import { planEvidenceImport } from '../../../evidence/musn/plan-import.ts';
import { type EdnValue, printEdn } from '../../../evidence/musn/print-edn.ts';
import type { EvidenceStore } from '../../../ports/evidence-store.ts';
import { appendDrafts } from '../../../session/append-drafts.ts';
import type { Fields, Json } from '../../../spec/types.ts';
import { withExistingSessions } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, print, printJson, printRemark, printResult, readNamedFile } from '../../io.ts';
import { findSession, withCreatedEvidence } from '../../open-store.ts';
import { type RootOption, resolveRootOption, rootOption, wholeNumberParser } from '../../shared-options.ts';
import { formatTable } from '../../table.ts';

interface Options extends RootOption {
  readonly limit: number;
  readonly after?: string;
  readonly edn?: boolean;
  readonly entries?: boolean;
  readonly import?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Lists a session as events of an activity log (agent/interaction, session/par, …), newest first, one page at a time. With --entries it prints the evidence itself in the form {:evidence/type …}. --import creates a session from the evidence of another program: entries or events, as JSON or EDN.',
    )
    .argument('<session>', 'the id of the session, or its first characters; with --import the whole id')
    .addOption(rootOption())
    .option('--limit <n>', 'the number of events, 1 to 1000', wholeNumberParser(1000, 1), 20)
    .option('--after <cursor>', 'the next page: the cursor that the last page printed')
    .option('--entries', 'list entries instead of events')
    .option('--edn', 'print EDN, one form per line')
    .addOption(
      new Option('--import <file>', 'append the entries of this file to a session of foreign evidence').conflicts([
        'after',
        'edn',
      ]),
    )
    .examples(
      'hopgate activity s-4f1c',
      'hopgate activity s-4f1c --limit 100 --json',
      'hopgate activity s-4f1c --entries --edn > s-4f1c.edn',
      'hopgate activity musn-7 --import activity.edn',
    )
    .action((session: string, options: Options) =>
      options.import === undefined ? list(io, session, options) : importLog(io, session, options.import, options),
    );
}

async function list(io: Io, id: string, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const page = await withExistingSessions(io, root, async (store) => {
    const { sessionId } = findSession(await store.sessions(), id);
    const { limit, after } = options;
    return store.query({ sessionId, limit, ephemeral: true, ...(after === undefined ? {} : { after }) });
  });
  const forms = page.entries.map(({ entry }) => (options.entries ? toMusnForm(entry) : toActivityEvent(entry)));
  if (options.edn) {
    for (const form of forms) {
      print(io, options.entries ? printMusnForm(form as { [key: string]: Json }) : printEdn(form as EdnValue));
    }
  } else if (io.json) {
    printJson(io, { [options.entries ? 'entries' : 'events']: forms, next: page.next });
    return;
  } else print(io, overview(io, page.entries));
  if (page.next !== null) printRemark(io, `there is more: --after ${page.next}`);
}

const overview = (io: Io, entries: readonly FoundEntry[]): string =>
  formatTable(
    io,
    ['at', 'event', 'agent', 'what'],
    entries.map(({ entry }) => {
      const event = toActivityEvent(entry) as Fields;
      const { 'event/type': type = 'agent/interaction', agent = entry.author, source: _src, at: _at, ...rest } = event;
      const { metadata = rest } = event;
      return [entry.at, String(type), String(agent), excerpt(JSON.stringify(metadata), 100)];
    }),
  );

async function importLog(io: Io, sessionId: string, file: string, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const plan = planEvidenceImport(readNamedFile(io, file), { sessionId, source: file });
  if (!plan.ok) {
    const lines = plan.problems.slice(0, 20).map(({ path, message }) => `${path === '' ? file : path}: ${message}`);
    const more = plan.problems.length > 20 ? [`and ${plan.problems.length - 20} more`] : [];
    throw new CliError('invalid-import', [...lines, ...more].join('\n'), 'Nothing was imported; correct these first.');
  }
  await withCreatedEvidence(root, io.env, async (store) => {
    const added = await append(store, sessionId, plan);
    if (plan.dropped.length > 0)
      printRemark(io, `left out, because entries have no such field: ${plan.dropped.map(escapeInvisible).join(', ')}`);
    const repeated = `${escapeInvisible(file)} was imported before; nothing was added`;
    const text = added === 0 ? repeated : `${added} imported as session ${escapeInvisible(sessionId)}`;
    printResult(io, { sessionId, imported: added, dropped: plan.dropped }, text);
  });
}

async function append(
  store: EvidenceStore,
  sessionId: string,
  { drafts, ephemeral }: Pick<Extract<ReturnType<typeof planEvidenceImport>, { ok: true }>, 'drafts' | 'ephemeral'>,
): Promise<number> {
  const existing = (await store.sessions()).find((session) => session.sessionId === sessionId);
  if (existing !== undefined && existing.pin !== '') {
    throw new CliError(
      'own-session',
      `session ${sessionId} was written by hopgate; foreign evidence cannot be added to it`,
      'Import under another session id.',
    );
  }
  if ((await store.get(drafts[0]!.id)) !== null) return 0;
  const before = await store.head(sessionId);
  await appendDrafts(store, sessionId, drafts, { holder: 'import', ms: 60_000 });
  await store.appendEphemeral(sessionId, ephemeral);
  return (await store.head(sessionId)).seq - before.seq - 1 + ephemeral.length;
}
