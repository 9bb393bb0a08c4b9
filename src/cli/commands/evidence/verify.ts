import type { PinnedSessionEvidence } from '../../../audit/delegation/sub-agent-audit.ts';
import type { Violation } from '../../../audit/verify/audit-result.ts';
import { type SessionVerification, type VerifyOptions, verifySession } from '../../../audit/verify/verify-session.ts';
import { escapeInvisible, excerpt, plural } from '../../../base/text.ts';
import { toBody } from '../../../evidence/bodies.ts';
import { verifyChain } from '../../../evidence/chain.ts';
import { isSignedBy, parseSeal, SealError } from '../../../evidence/seal.ts';
import type { Shipment, ShippedCommit } from '../../../evidence/shipments.ts';
import type { EvidenceStore, SessionSummary, StoreProblem } from '../../../ports/evidence-store.ts';
import { chooseSessions, noSessionsError, printNoSessions, readPinOrReason } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, paint, print, printJsonLine, readNamedFile, usageError } from '../../io.ts';
import { withEvidence } from '../../open-store.ts';
import { judgeSessionInhabitation, printInhabitation } from '../../print-inhabitation.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';
import { printTable } from '../../table.ts';
import { formatFinding } from '../../thread/print-findings.ts';

interface Options extends RootOption {
  readonly seal?: string;
  readonly key?: string;
  readonly strict?: boolean;
  readonly inhabited?: boolean;
  readonly transcript?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Checks the hash chain of sessions. Compares their requests and observed effects with the spec that each session is pinned to. Checks that the lists, columns and caches of the store agree with the entries. Exit code 1 for any violation. Facts that nobody observed are listed as gaps. A session in the middle of a visit is clean so far. An observe-only session is never clean. For the session of another program, only the chain is checked. With --json, one result per line.',
    )
    .argument('[session...]', 'the ids of the sessions, or their first characters (default: all sessions)')
    .addOption(rootOption())
    .option('--seal <file>', 'a seal of the session (see hopgate seal)')
    .option('--key <file>', 'the public key of the seal')
    .option('--strict', 'exit with 1 also for gaps and for observe-only sessions')
    .option('--inhabited', 'also judge by the transcript whether an agent worked only through the session (P-1 to P-6)')
    .option('--transcript <file>', 'the transcript (default: the recorded one)')
    .examples(
      'hopgate verify',
      'hopgate verify s-4f1c --strict',
      'hopgate verify s-4f1c --seal s-4f1c.seal.json --key seal.pub.pem',
      'hopgate verify s-4f1c --inhabited',
    )
    .action((sessions: readonly string[], options: Options) => verify(io, sessions, options));
}

async function verify(io: Io, ids: readonly string[], options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const seal = readSeal(io, options);
  if (seal && ids.length !== 1)
    throw usageError('a seal belongs to one session', 'Name the session that --seal belongs to.');
  if (options.transcript !== undefined && (!options.inhabited || ids.length !== 1))
    throw usageError('--transcript needs --inhabited and one session', 'Add --inhabited and the id of the session.');
  const found = await withEvidence(root, io.env, 0, async (store) => {
    const problems = await checkStore(io, store, ids);
    if (problems.some(({ isGap }) => options.strict || !isGap)) io.exitCode = 1;
    const chosen = await chooseSessions(store, ids);
    for (const session of chosen) {
      const verification = await verifyOne(io, store, session, seal);
      const isClean = verification.audit.counts.gaps === 0 && !verification.audit.observed;
      if (!verification.ok || (options.strict && !isClean)) io.exitCode = 1;
      const inhabited = options.inhabited
        ? await judgeSessionInhabitation(io, store, session, root, options.transcript)
        : null;
      if (inhabited?.some(({ verdict, score }) => verdict === 'fails' && score === undefined)) io.exitCode = 1;
      if (io.json) printJsonLine(io, inhabited ? { ...verification, inhabited } : verification);
      else {
        printVerification(io, verification);
        if (inhabited) printInhabitation(io, inhabited);
      }
    }
    return chosen.length;
  });
  if (found === 0 && ids.length > 0) throw noSessionsError(io, root);
  if (found === 0 && !io.json) printNoSessions(io, root);
}

/** Prints where the store's columns and caches contradict its entries. */
async function checkStore(io: Io, store: EvidenceStore, ids: readonly string[]): Promise<readonly StoreProblem[]> {
  const all = (await store.problems?.()) ?? [];
  const isChosen = (sessionId: string | null) =>
    sessionId === null || ids.length === 0 || ids.some((id) => sessionId.startsWith(id));
  const problems = all.filter(({ sessionId }) => isChosen(sessionId));
  if (problems.length === 0) return problems;
  const ok = problems.every(({ isGap }) => isGap);
  if (io.json) printJsonLine(io, { store: { ok, problems } });
  else {
    const status = ok ? paint(io, 'yellow', 'incomplete') : paint(io, 'red', 'damaged');
    print(io, `${status}  the store; ${plural(problems.length, 'problem')}`);
    const cells = problems.map(({ sessionId, where, message, isGap }) =>
      [sessionId ?? '', where, isGap ? `gap: ${message}` : message].map((cell) => excerpt(cell, WIDTH)),
    );
    printTable(io, ['session', 'part', 'what'], cells);
  }
  return problems;
}

function readSeal(io: Io, { seal, key }: Options): NonNullable<VerifyOptions['seal']> | null {
  if (seal === undefined && key === undefined) return null;
  if (seal === undefined || key === undefined)
    throw usageError('--seal and --key go together', 'Give the seal and the public key.');
  const parsed = parseFile(io, seal, 'Name the file that "hopgate seal" wrote.', parseSeal);
  const publicKey = parseFile(io, key, 'Name the public key of the seal, a file in PEM.', (text) => {
    isSignedBy(parsed, text);
    return text;
  });
  return { seal: parsed, publicKey };
}

function parseFile<Parsed>(io: Io, file: string, remedy: string, parse: (text: string) => Parsed): Parsed {
  const text = readNamedFile(io, file);
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new CliError('invalid-seal', `${file}: ${cause.message}`, remedy, { cause });
  }
}

async function verifyOne(
  io: Io,
  store: EvidenceStore,
  session: SessionSummary,
  seal: VerifyOptions['seal'] | null,
): Promise<VerifyOutput> {
  const { sessionId } = session;
  const pin = await readPinOrReason(store, session);
  if (typeof pin === 'string') {
    const isForeign = session.pin === '' && seal === null && !(await isOpened(store, sessionId));
    return verifyChainOnly(store, session, isForeign ? null : pin);
  }
  const shows = io.isTty && !io.json;
  const verification = await verifySession(sessionId, pin, store.entries(sessionId), {
    ...(seal ? { seal } : {}),
    getBlob: (hash) => store.getBlob(hash),
    find: (id) => otherSession(store, id),
    ...(shows
      ? {
          progress: (entries) =>
            void io.stderr.write(`\r${escapeInvisible(sessionId)}  ${entries} of ${session.entries} entries`),
        }
      : {}),
  });
  if (shows && session.entries >= 10_000) io.stderr.write('\r\u001b[K');
  return verification;
}

/** Reads another session that the verified one refers to; null if the store lacks it or its pin. */
async function otherSession(store: EvidenceStore, sessionId: string): Promise<PinnedSessionEvidence | null> {
  const summary = (await store.sessions()).find((each) => each.sessionId === sessionId);
  const pinned = summary && (await readPinOrReason(store, summary));
  return pinned === undefined || typeof pinned === 'string' ? null : { pinned, entries: store.entries(sessionId) };
}

/** True if hopgate opened the session. Imported evidence and reviews begin with another entry than `session-open`. */
async function isOpened(store: EvidenceStore, sessionId: string): Promise<boolean> {
  for await (const { entry } of store.entries(sessionId))
    return toBody(entry.body)?.event === 'session-open' || entry.tags.includes('session-open');
  return false;
}

interface VerifyOutput extends SessionVerification {
  /** True if another program recorded the session, so that no spec of hopgate judges it. */
  readonly foreign?: true;
}

/**
 * Verifies only the chain of a session without a pin, because there are no specs to compare its steps with.
 * @param why the reason why a session of hopgate has no pin; null for a session of another program
 */
async function verifyChainOnly(
  store: EvidenceStore,
  { sessionId }: SessionSummary,
  why: string | null,
): Promise<VerifyOutput> {
  const checked = await verifyChain(store.entries(sessionId));
  const about = { rule: 'pin', entryId: '', seq: 0, constraint: 'the spec that the session was opened with' } as const;
  const violations: readonly Violation[] = why === null ? [] : [{ ...about, message: why }];
  const counts = {
    entries: checked.ok ? checked.count : 0,
    steps: 0,
    denials: 0,
    visits: 0,
    hops: 0,
    approvals: 0,
    wouldRefuse: 0,
    violations: violations.length,
    gaps: 0,
  };
  return {
    sessionId,
    ok: why === null && checked.ok,
    ...(why === null ? { foreign: true } : {}),
    chain: checked.ok ? [] : checked.problems,
    seal: null,
    audit: { ok: why === null, violations, gaps: [], counts },
    head: checked.ok ? checked.head : { seq: -1, hash: '' },
    shipments: [],
  };
}

/** One line: `at 41, in deploy: tested 1a2b…; approved 3c4d…; committed 5e6f… (tree 3c4d…)`. */
function shipmentLine(io: Io, { seq, peripheral, tested, approved, committed, pushed, deployed }: Shipment): string {
  const short = (id: string | null) => (id === null ? 'unknown' : escapeInvisible(id.slice(0, 12)));
  const commits = (verb: string, all: readonly ShippedCommit[]) =>
    all.map(({ sha, tree }) => {
      const text = `${verb} ${short(sha)} (tree ${short(tree)})`;
      return approved === null || tree === approved ? text : paint(io, 'red', `${text}, which was not approved`);
    });
  const shipped = [
    ...commits('committed', committed),
    ...commits('pushed', pushed),
    ...deployed.map((name) => `ran ${escapeInvisible(name)}`),
  ];
  const before = [
    tested === null ? 'no tested tree' : `tested ${short(tested)}`,
    approved === null ? 'no approved tree' : `approved ${short(approved)}`,
  ];
  const all = [...before, ...(shipped.length > 0 ? shipped : ['nothing shipped'])];
  return `at ${seq}, in ${escapeInvisible(peripheral)}: ${all.join('; ')}`;
}

const WIDTH = 160;

function printVerification(io: Io, verification: VerifyOutput): void {
  const { sessionId, ok, chain, seal, audit, findings = [] } = verification;
  const { entries, steps, denials, visits, violations, gaps } = audit.counts;
  // An open session may be in the middle of a visit.
  const isUnderWay = audit.gaps.length === gaps && audit.gaps.every(({ kind }) => kind === 'open-visit');
  const word = !ok
    ? paint(io, 'red', 'violated')
    : verification.foreign
      ? paint(io, 'yellow', 'foreign')
      : !isUnderWay
        ? paint(io, 'yellow', 'gaps')
        : audit.observed
          ? paint(io, 'yellow', gaps === 0 ? 'observed' : 'observed so far')
          : paint(io, 'green', gaps === 0 ? 'clean' : 'clean so far');
  const wrong = chain.length + violations + (seal === null ? 0 : 1);
  const found = [
    ...(wrong > 0 ? [`${plural(wrong, 'violation')}`] : []),
    ...(audit.observed ? [`enforcement would have refused ${plural(audit.counts.wouldRefuse, 'call')}`] : []),
    ...(gaps > 0 && !(ok && isUnderWay) ? [`${plural(gaps, 'gap')}`] : []),
  ];
  print(
    io,
    [
      `${word}  ${escapeInvisible(sessionId)}  ${plural(entries, 'entry', 'entries')}, ${plural(steps, 'step')}, ${plural(denials, 'denial')}, ${plural(visits, 'visit')}`,
      ...found,
    ].join('; '),
  );
  if (seal !== null) print(io, `  ${paint(io, 'red', 'seal')}  ${excerpt(seal, WIDTH)}`);
  for (const shipment of verification.shipments) print(io, `  ${shipmentLine(io, shipment)}`);
  for (const finding of findings) print(io, formatFinding(io, finding));
  const rows = [
    ...chain.map(({ seq, rule, message }) => [String(seq), `chain: ${rule}`, '', message, '']),
    ...audit.violations.map(({ seq, rule, tool = '', argument, message, constraint }) => [
      String(seq),
      rule,
      argument === undefined ? tool : `${tool} ${argument}`.trim(),
      message,
      constraint,
    ]),
    ...gapRows(ok && isUnderWay ? [] : audit.gaps),
  ];
  if (rows.length === 0) return;
  const cells = rows.map((row) => row.map((cell) => excerpt(cell, WIDTH)));
  printTable(io, ['seq', 'rule', 'tool', 'what', 'the spec says'], cells);
}

/** One row for each gap. Consecutive equal gaps, as in an erased session, share a row. */
function gapRows(gaps: SessionVerification['audit']['gaps']): readonly (readonly string[])[] {
  const rows: { from: number; row: string[] }[] = [];
  for (const { seq, kind, tool = '', message } of gaps) {
    const cells = [`gap: ${kind}`, tool, message, ''];
    const last = rows.at(-1);
    if (last?.row.slice(1).every((cell, at) => cell === cells[at])) last.row[0] = `${last.from}–${seq}`;
    else rows.push({ from: seq, row: [String(seq), ...cells] });
  }
  return rows.map(({ row }) => row);
}
