import { hash } from 'node:crypto';
import { fieldsOf } from '../../base/json.ts';
import { isBlobReference, listBlobArguments } from '../../evidence/blob-values.ts';
import { toBody } from '../../evidence/bodies.ts';
import { type ChainProblem, unreadableEntryProblem } from '../../evidence/chain.ts';
import { type ChainHead, EMPTY_CHAIN, type Entry, type StoredEntry } from '../../evidence/entry.ts';
import { type Finding, SessionFindings } from '../../evidence/findings/findings.ts';
import { MerkleFrontier, merkleLeafOfEntry } from '../../evidence/merkle.ts';
import { isSignedBy, type Seal, sealProblem } from '../../evidence/seal.ts';
import { type Shipment, ShipmentCollector } from '../../evidence/shipments.ts';
import { getOwn } from '../../spec/names.ts';
import type { Json } from '../../spec/types.ts';
import { type FindSessionById, SubAgentAudit } from '../delegation/sub-agent-audit.ts';
import type { AuditedPin } from '../rules/audit-state.ts';
import { type AuditResult, MAX_LISTED_FINDINGS } from './audit-result.ts';
import { checkChainLink } from './check-links.ts';
import { SessionAudit } from './session-audit.ts';

export interface VerifyOptions {
  /** A seal that was stored elsewhere, and the key that must have signed it (PEM). */
  readonly seal?: { readonly seal: Seal; readonly publicKey: string };
  /** Reads a blob. If present, each blob must exist and be unchanged. */
  readonly getBlob?: (hash: string) => Promise<Uint8Array | null>;
  /**
   * Finds a session that this session started or was started by. Without this function, the sessions are not compared.
   */
  readonly find?: FindSessionById;
  /** Called with the number of entries read, after every 10,000 entries. */
  readonly progress?: (entries: number) => void;
}

export interface SessionVerification {
  readonly sessionId: string;
  /** True if the chain is complete, the seal fits, and nothing contradicts the spec. */
  readonly ok: boolean;
  /** Damage of the log itself: entries changed, missing, doubled, out of order; blobs changed. */
  readonly chain: readonly ChainProblem[];
  /** The reason why the log does not match its seal; null if it matches, or if there is no seal. */
  readonly seal: string | null;
  readonly audit: AuditResult;
  /** Findings about the changes that no rule forbids but a person must know; absent if there are none. */
  readonly findings?: readonly Finding[];
  readonly head: ChainHead;
  /** The trees that were tested, approved and shipped. */
  readonly shipments: readonly Shipment[];
}

const PROGRESS_INTERVAL = 10_000;

/** Verifies the integrity and conformance of one session, in one pass, with memory that does not grow with the log. */
export async function verifySession(
  sessionId: string,
  pinned: AuditedPin,
  entries: AsyncIterable<StoredEntry> | Iterable<StoredEntry>,
  { seal, getBlob, find, progress }: VerifyOptions = {},
): Promise<SessionVerification> {
  const audit = new SessionAudit(pinned);
  const shipments = new ShipmentCollector();
  const deploys = (id: string) => pinned.specs.peripherals[id]?.scope.rule.command === 'deploy';
  const findings = new SessionFindings();
  const chain: ChainProblem[] = [];
  const subAgents = new SubAgentAudit(pinned);
  const sealed = seal ? readSealedPart(seal.seal) : null;
  let head = EMPTY_CHAIN;
  try {
    for await (const stored of entries) {
      const { entry } = stored;
      const problems = checkChainLink(head, stored);
      if (problems && chain.length < MAX_LISTED_FINDINGS) chain.push(...problems);
      audit.add(entry, stored.body === null);
      shipments.add(entry, deploys);
      findings.add(entry);
      subAgents.add(entry);
      sealed?.add(entry);
      head = { seq: entry.seq, hash: entry.hash };
      if (getBlob) for (const blob of blobsOf(entry, pinned)) await checkBlob(blob, stored, getBlob, chain);
      if (progress && entry.seq % PROGRESS_INTERVAL === PROGRESS_INTERVAL - 1) progress(entry.seq + 1);
    }
  } catch (error) {
    chain.push(unreadableEntryProblem(head, error));
  }
  const result = find ? addViolations(audit.result(), await subAgents.judge(find)) : audit.result();
  const sealBreach = seal && sealed ? sealed.problem(sessionId, seal.publicKey) : null;
  return {
    sessionId,
    ok: chain.length === 0 && sealBreach === null && result.ok,
    chain,
    seal: sealBreach,
    audit: result,
    ...(findings.list().length > 0 ? { findings: findings.list() } : {}),
    head,
    shipments: shipments.all,
  };
}

/** Adds the violations and gaps that the comparison with other sessions found to a result. */
const addViolations = (
  { ok, violations, gaps, counts, ...rest }: AuditResult,
  more: Pick<AuditResult, 'violations' | 'gaps'>,
): AuditResult => ({
  ...rest,
  ok: ok && more.violations.length === 0,
  violations: [...violations, ...more.violations],
  gaps: [...gaps, ...more.gaps],
  counts: { ...counts, violations: counts.violations + more.violations.length, gaps: counts.gaps + more.gaps.length },
});

function readSealedPart(seal: Seal) {
  const tree = new MerkleFrontier();
  let [size, head] = [0, ''];
  return {
    add(entry: { readonly hash: string }): void {
      size += 1;
      if (size > seal.statement.size) return;
      tree.add(merkleLeafOfEntry(entry));
      head = entry.hash;
    },
    problem(sessionId: string, publicKey: string): string | null {
      if (!isSignedBy(seal, publicKey)) return 'the seal was not signed with this key, or was changed';
      const sealed = size >= seal.statement.size ? { head, root: tree.root() } : null;
      return sealProblem(seal, { sessionId, size, sealed });
    },
  };
}

/** The hashes of the blobs in which an entry stores large arguments and results. */
function blobsOf({ body, peripheral }: Entry, { specs }: AuditedPin): readonly string[] {
  const known = toBody(body);
  if (!known) return [];
  const bodies: Json[] = [];
  if ('args' in known) {
    const { tool, args } = known;
    const spec = getOwn(specs.peripherals, peripheral ?? '');
    bodies.push(...listBlobArguments(getOwn(specs.tools, tool), spec, args).map((name) => args[name]!));
  }
  if (known.event === 'denial') bodies.push(...Object.values(known.request));
  if ('outcome' in known) {
    const result = (known.outcome as { result?: Json }).result ?? null;
    bodies.push(result, ...Object.values(fieldsOf(result)));
  }
  return bodies.filter(isBlobReference).map((reference) => String(fieldsOf(reference)['blob']));
}

async function checkBlob(
  name: string,
  { entry }: StoredEntry,
  getBlob: NonNullable<VerifyOptions['getBlob']>,
  chain: ChainProblem[],
): Promise<void> {
  // A store throws for a blob that was changed.
  const bytes = await getBlob(name).catch((error: Error) => error);
  const { seq, id } = entry;
  const problem =
    bytes === null ? 'is gone' : bytes instanceof Error ? `cannot be read: ${bytes.message}` : 'was changed';
  if (!(bytes instanceof Uint8Array) || hash('sha256', bytes) !== name)
    chain.push({ seq, id, rule: 'body', message: `blob ${name}, which contains a part of the entry, ${problem}` });
}
