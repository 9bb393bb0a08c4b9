import { hash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { ReviewContributions } from '../../../agency/par/review-document.ts';
import { runReviewParticipants } from '../../../agency/par/run-participants.ts';
import { serveReviewDocument } from '../../../agency/par/serve-document.ts';
import { makeFolders } from '../../../base/files.ts';
import { escapeInvisible, plural } from '../../../base/text.ts';
import { userStateFolder } from '../../../base/user-folders.ts';
import type { EntryDraft } from '../../../evidence/entry.ts';
import { readActivityEvent } from '../../../evidence/musn/activity.ts';
import { readToken } from '../../../operator/operator-token.ts';
import { ensureStateDir } from '../../../project/state-dir.ts';
import { roleTokenFile, Tokens } from '../../../server/access/tokens.ts';
import { appendDrafts } from '../../../session/append-drafts.ts';
import { agencyOption, formatRunReply, withLocalNode } from '../../agency/use-node.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, print, printJson, printRemark } from '../../io.ts';
import { withCreatedEvidence, withEvidence } from '../../open-store.ts';
import { nameParser, parseHostAndPortOption, resolveRootOption, rootOption } from '../../shared-options.ts';

interface Options {
  readonly root: string;
  readonly agency?: string;
  readonly agents: readonly string[];
  readonly title?: string;
  readonly session?: string;
  readonly par?: string;
  readonly listen?: { readonly host: string; readonly port: number };
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Calls several agents to a post-action review (PAR). Each one runs in the agency peripheral par-participant and contributes to one shared document (a yjs CRDT). The result is a review in the evidence.',
    )
    .requiredOption('--agents <names>', 'the agents, separated by commas', namesOf)
    .option('--title <text>', 'the title of the review (default: "Post-action review")')
    .option('--session <id>', 'the session under review (default: the review itself)')
    .option('--par <id>', 'the name of the review; an interrupted review with this name continues', nameParser(100))
    .option(
      '--listen <host:port>',
      'the address of the document (default: a free port of 127.0.0.1)',
      parseHostAndPortOption,
    )
    .addOption(agencyOption())
    .addOption(rootOption())
    .examples(
      'hopgate par-bell --agents claude,codex --title "Lab Upload Debrief"',
      'hopgate par-bell --agents claude --session s-4f1c --json',
      'hopgate par-bell --agents claude,codex --par debrief-7    # continues "debrief-7"',
    )
    .action((options: Options) => ring(io, options));
}

async function ring(io: Io, options: Options): Promise<void> {
  const { agents, listen } = options;
  const root = resolveRootOption(io, options);
  const par = options.par ?? `par-${randomUUID().slice(0, 8)}`;
  const sessions = await withEvidence(root, io.env, [], (store) => store.sessions());
  if (sessions.some(({ sessionId, pin }) => sessionId === par && pin !== ''))
    throw new CliError(
      'own-session',
      `${par} is a session; a review needs a name of its own`,
      `Use --session ${par} to review it, and another name for --par.`,
    );
  ensureStateDir(root, io.env);
  const tokens = new Tokens(io.env);
  makeFolders(userStateFolder(io.env), 0o700);
  const document = await serveReviewDocument({
    host: listen?.host ?? '127.0.0.1',
    port: listen?.port ?? null,
    file: join(userStateFolder(io.env), 'par.db'),
    name: par,
    admits: (token) => ['operator', 'agent', 'node'].includes(tokens.holder(token)?.role ?? ''),
  });
  try {
    const facts = document.facts();
    const title = options.title ?? facts.title ?? 'Post-action review';
    const session = options.session ?? facts.session ?? par;
    document.keepFacts({ title, session });
    printRemark(io, `${par}: ${plural(agents.length, 'agent')}, document at ${document.host}:${document.port}`);
    const all = await withLocalNode(io, options, (send, signal) =>
      runReviewParticipants({
        agents,
        par,
        title,
        session,
        document,
        continued: facts.title !== undefined,
        token: readToken(roleTokenFile(io.env, 'operator')) ?? '',
        run: (request, key) => send(request, { key, budgetMs: null, via: [] }, signal),
        onReply: (agent, reply) =>
          printRemark(io, `${agent}: ${reply.ok ? 'contributed' : escapeInvisible(reply.error.message)}`),
      }),
    );
    const contributions = document.contributions();
    const entry = await keepReview(root, io, { par, session, title, contributions });
    if (io.json)
      printJson(io, { par, session, title, outcome: all.outcome, contributions, entry, replies: all.replies });
    else {
      for (const [agent, text] of Object.entries(contributions))
        print(io, `${escapeInvisible(agent)}: ${text.split('\n').map(escapeInvisible).join('\n')}`);
      for (const [agent, reply] of Object.entries(all.replies))
        if (!reply.ok) print(io, `${escapeInvisible(agent)}: ${formatRunReply(reply)}`);
      if (entry !== null) print(io, `The review is in the evidence: hopgate log ${par}`);
    }
    if (all.outcome !== 'all') io.exitCode = 1;
  } finally {
    await document.close();
  }
}

/** Writes the review into the evidence, once for the same contributions. Returns its id; null if nobody contributed. */
async function keepReview(
  root: string,
  io: Io,
  {
    par,
    session,
    title,
    contributions,
  }: { par: string; session: string; title: string; contributions: ReviewContributions },
): Promise<string | null> {
  if (Object.keys(contributions).length === 0) return null;
  const id = `m-${hash('sha256', JSON.stringify([par, session, title, contributions])).slice(0, 24)}`;
  const event = { 'event/type': 'session/par', agent: 'par-bell', source: 'hopgate', at: new Date().toISOString() };
  const review = {
    ...event,
    'par/id': par,
    'session/id': session,
    'par/tags': ['par-bell'],
    problem: title,
    'par/questions': { perspectives: contributions },
  };
  const draft: EntryDraft = { ...readActivityEvent(event, { id, sessionId: par }), body: review };
  return withCreatedEvidence(root, io.env, async (store) => {
    if ((await store.get(id)) === null) await appendDrafts(store, par, [draft], { holder: 'par-bell' });
    return id;
  });
}

function namesOf(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.length === 0) throw new InvalidArgumentError('Name at least one agent.');
  return names;
}
