import { resolve } from 'node:path';
import { escapeInvisible } from '../../../base/text.ts';
import { describeGrantLimits } from '../../../gate/approvals/grant.ts';
import { answerIfUnanswered, answerRequest } from '../../../operator/answer-request.ts';
import { type GrantTerms, toGrantLimits } from '../../../operator/grant-terms.ts';
import { ensureOperatorToken, operatorTokenFile, readToken, TokenError } from '../../../operator/operator-token.ts';
import { listPendingItems, type PendingItem } from '../../../operator/pending-items.ts';
import { askAtTerminal } from '../../approve/ask-at-terminal.ts';
import { askEachNewRequest } from '../../approve/ask-each-new-request.ts';
import { findAllPendingRequests, findPendingRequest, findPendingRequestsOf } from '../../approve/find-pending.ts';
import { pendingRequestJson, printPendingRequests } from '../../approve/list-pending.ts';
import { notifyOperator } from '../../approve/notify-operator.ts';
import { readDiffToApprove, showApprovalRequest } from '../../approve/show-request.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, paint, print, printJson, usageError } from '../../io.ts';
import { canAskPerson } from '../../run/operator-approver.ts';
import { parseNameOption, resolveRootOption, wholeNumberParser } from '../../shared-options.ts';

interface Options {
  readonly root?: string;
  readonly allRoots?: boolean;
  readonly yes?: boolean;
  readonly no?: boolean;
  readonly replace?: boolean;
  readonly by: string;
  readonly minutes: number;
  readonly tokenFile?: string;
  readonly watch?: boolean;
  readonly exec?: string;
  readonly times?: number;
  readonly for?: number;
  readonly files?: readonly string[];
  readonly changedFiles?: boolean;
  readonly whileTestsPass?: boolean;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      "Lists the requests that wait for the operator. With an id, it shows one request in full (the action, the reason, the changed files, the current diff) and asks for an answer. The operator's token proves the answer; the token is a file in the state folder that no sandbox shows. An approval is valid for this request only, once, until it expires. With a limit (--times, --for, --files, --changed-files, --while-tests-pass) it is a grant: it also covers later requests for the same hop, mode or call, until the first limit is reached. `hopgate grants` lists and revokes grants. Without a terminal, answer with --yes or --no. Exit code 1 if you answer no, or not at all.",
    )
    .argument('[id]', 'the id in the refusal; searched in all repositories unless --root is given')
    .option('--root <dir>', 'the repository (default for the list: the one that contains the current folder)')
    .option('--all-roots', 'list the requests of all repositories')
    .option('--watch', 'wait for requests and ask for each one, until Ctrl-C')
    .option(
      '--exec <command>',
      'with --watch: run this command for each request; its HOPGATE_REQUEST_… variables contain the request',
    )
    .option('--yes', 'approve the request')
    .option('--no', 'refuse the request; the agent may ask again')
    .option('--replace', 'with --yes or --no: replace an earlier answer that the agent has not used')
    .option('--by <name>', 'the name of the approver in the evidence', parseNameOption, 'operator')
    .option('--minutes <number>', 'minutes until an unused approval expires', minutesOf, 60)
    .option('--times <number>', 'grant this number of requests, including this one', wholeNumberParser(1000, 1))
    .option('--for <minutes>', 'grant for this number of minutes (default for a grant: 60)', minutesOf)
    .option('--files <path...>', 'grant until a file outside of these paths is changed')
    .option('--changed-files', 'grant until a file is changed that is not changed now')
    .option('--while-tests-pass', 'grant until a run of the tests does not pass')
    .option('--token-file <file>', "the operator's token (default: the one in the state folder)")
    .examples(
      'hopgate approve',
      'hopgate approve k7m2xq',
      'hopgate approve k7m2xq --yes --by mary --minutes 10',
      'hopgate approve k7m2xq --yes --times 3 --while-tests-pass',
      'hopgate approve --watch --all-roots',
      'hopgate approve --watch --exec \'notify-send "$HOPGATE_REQUEST_TITLE"\'',
    )
    .action((id: string | undefined, options: Options) => approve(io, id, options));
}

async function approve(io: Io, id: string | undefined, options: Options): Promise<void> {
  const { yes, no, watch } = options;
  if (yes && no) throw usageError('--yes and --no exclude each other', 'Use only one of them.');
  if (id === undefined && (yes || no))
    throw usageError('no request is named', 'Write its id: hopgate approve ID --yes.');
  if (options.replace && !yes && !no) throw usageError('--replace needs an answer', 'Add --yes or --no.');
  if (options.exec !== undefined && !watch)
    throw usageError('--exec needs --watch', 'Add --watch, or use "hopgate serve --exec".');
  if (watch && id !== undefined) throw usageError('--watch takes no id', 'Leave out one of them.');
  if (watch) {
    if (!canAskPerson(io))
      throw usageError('--watch asks at a terminal, and there is none', 'Use "hopgate approve ID --yes".');
    return askEachNewRequest(
      io,
      () => itemsOf(io, options),
      (item) => {
        notifyOperator(io, item, options.exec);
        return askAndAnswer(io, item, options).catch((error: unknown) => continueIfAnswered(io, error));
      },
    );
  }
  if (id === undefined) return printPendingRequests(io, itemsOf(io, options), othersOf(io, options));
  const item = findPendingRequest(io, id, options.root);
  const verdict = yes ? 'yes' : no ? 'no' : null;
  if (verdict !== null) {
    if (item.answer !== null && !options.replace) throw alreadyAnswered(item.pending.id, item.answer);
    if (!io.json) await show(io, item);
    return recordAnswer(io, item, { verdict, ...termsOf(options) }, options);
  }
  if (io.json) {
    const { request, root } = item.pending;
    return printJson(io, { ...pendingRequestJson(item), tree: await readDiffToApprove(request, root) });
  }
  if (canAskPerson(io)) {
    const answered = await askAndAnswer(io, item, options);
    if (answered !== 'yes') io.exitCode = 1;
    return;
  }
  await show(io, item);
  throw usageError('nobody can be asked here', `Answer with "hopgate approve ${item.pending.id} --yes", or --no.`);
}

/** Continues to watch if the request was answered elsewhere while the person read it. */
function continueIfAnswered(io: Io, error: unknown): void {
  if (!(error instanceof CliError && ['unknown-request', 'already-answered'].includes(error.code))) throw error;
  print(io, error.message);
}

const itemsOf = (io: Io, { root, allRoots }: Options): readonly PendingItem[] =>
  allRoots ? findAllPendingRequests(io) : findPendingRequestsOf(io, root ?? '.');

/** The number of pending requests in all repositories except the listed one. */
const othersOf = (io: Io, options: Options): number =>
  options.allRoots || options.root !== undefined ? 0 : findAllPendingRequests(io).length - itemsOf(io, options).length;

/** Shows a request, with its repository if that is not the current one. */
async function show(io: Io, { pending: { request, root } }: PendingItem): Promise<void> {
  if (root !== resolveRootOption(io, { root: '.' })) print(io, paint(io, 'bold', `In ${escapeInvisible(root)}:`));
  await showApprovalRequest(io, request, root);
}

/** Shows a request, asks the person, and records the answer. Returns yes or no; null if it stays pending. */
async function askAndAnswer(io: Io, item: PendingItem, options: Options): Promise<TypedAnswer['verdict'] | null> {
  tokenFor(io, item, options); // A wrong token is reported before the person reads the request.
  await show(io, item);
  if (item.answer !== null)
    print(io, paint(io, 'yellow', `  ${describeEarlier(item.answer)}; your answer replaces that one`));
  const parsed = await askAtTerminal(io, item.pending.request);
  if (parsed === null || 'problem' in parsed) {
    print(io, `Not answered${parsed ? `: ${escapeInvisible(parsed.problem)}` : ''}. ${item.pending.id} still waits.`);
    return null;
  }
  recordAnswer(io, item, parsed.verdict === 'yes' ? { ...termsOf(options), ...parsed } : parsed, options);
  return parsed.verdict;
}

interface TypedAnswer {
  readonly verdict: 'yes' | 'no';
  readonly terms?: GrantTerms;
}

function termsOf(options: Options): Pick<TypedAnswer, 'terms'> {
  const { times, for: minutes, files, changedFiles, whileTestsPass: testsPass } = options;
  if ([times, minutes, files, changedFiles, testsPass].every((option) => option === undefined)) return {};
  return { terms: { times, minutes, files: files ?? (changedFiles || undefined), testsPass } };
}

function recordAnswer(io: Io, item: PendingItem, { verdict, terms }: TypedAnswer, options: Options): void {
  const grant = terms && toGrantLimits(terms, item.pending.request, Date.now());
  if (grant && 'problem' in grant)
    throw usageError(grant.problem, 'Change the limits of the grant, or leave them out.');
  const personAnswer = { verdict, by: options.by, minutes: options.minutes, grant };
  const token = tokenFor(io, item, options);
  const waits = listPendingItems(item.stateDir).some(({ pending }) => pending.id === item.pending.id);
  // The new answer replaces only an answer that this person has seen, not one from another terminal.
  const done = !waits
    ? null
    : item.answer === null
      ? answerIfUnanswered(item.stateDir, item.pending, personAnswer, token)
      : { answer: answerRequest(item.stateDir, item.pending, personAnswer, token) };
  if (done === null)
    throw new CliError(
      'unknown-request',
      `${item.pending.id} does not wait any longer: it was answered and used, or has expired`,
      'List the waiting requests with "hopgate approve --all-roots".',
    );
  const { id } = item.pending;
  if ('earlier' in done) throw alreadyAnswered(id, done.earlier);
  const { answer: signed } = done;
  const { by } = personAnswer;
  const until = new Date(signed.expiresAt).toISOString();
  if (io.json) return printJson(io, { id, verdict, by, until, requestHash: signed.requestHash, grant });
  if (verdict === 'no') return print(io, `${paint(io, 'red', 'Refused')}: ${id}.`);
  const yes = paint(io, 'green', grant ? 'Granted' : 'Approved');
  print(
    io,
    `${yes}: ${id}, ${grant ? describeGrantLimits(grant) : `once, until ${until}`}. The agent must repeat the same call.`,
  );
  if (grant) print(io, 'List and revoke it with "hopgate grants".');
}

type EarlierAnswer = Pick<NonNullable<PendingItem['answer']>, 'by' | 'verdict'>;

const describeEarlier = ({ by, verdict }: EarlierAnswer): string => `${escapeInvisible(by)} has said ${verdict}`;

const alreadyAnswered = (id: string, earlier: EarlierAnswer): CliError =>
  new CliError(
    'already-answered',
    `${id} was answered already: ${describeEarlier(earlier)}`,
    `The first answer counts. To replace it: hopgate approve ${id} --yes --replace, or --no --replace.`,
  );

/** The token that proves the answer; the sessions of this repository check it. */
function tokenFor(io: Io, { stateDir }: PendingItem, options: Options): string {
  try {
    const own = ensureOperatorToken(stateDir);
    if (options.tokenFile === undefined) return own;
    const token = readToken(resolve(io.cwd, options.tokenFile));
    if (token === own) return token;
  } catch (cause) {
    if (!(cause instanceof TokenError)) throw cause;
    const remedy =
      options.tokenFile === undefined ? 'Then answer again.' : `The token is in ${operatorTokenFile(stateDir)}.`;
    throw new CliError(cause.code, cause.message, remedy, { cause });
  }
  throw new CliError(
    'token-wrong',
    `${options.tokenFile} is not the operator's token of this repository`,
    `The token is in ${operatorTokenFile(stateDir)}.`,
  );
}

const minutesOf = wholeNumberParser(1440, 1);
