import { proposeSpecChanges, type RefusalsByTool, type SpecProposal } from '../../../audit/infer/propose-changes.ts';
import { type PropertyProof, proveProperties } from '../../../audit/properties/prove-properties.ts';
import { escapeInvisible, plural } from '../../../base/text.ts';
import type { Par } from '../../../evidence/patterns/par.ts';
import type { EvidenceStore, SessionSummary } from '../../../ports/evidence-store.ts';
import { openProject } from '../../../project/open-project.ts';
import { replayDecisions, type SessionReplay } from '../../../session/replay-decisions.ts';
import { readPinOrThrow } from '../../choose-sessions.ts';
import { formatHeading, type Io, print, printJson } from '../../io.ts';
import { printTrustWarning } from '../../print-config-warnings.ts';
import { printTable } from '../../table.ts';

/** Prints the changes that reviews suggest, with the proof of each property and the replay of the sessions. */
export async function printProposals(
  io: Io,
  root: string,
  pars: readonly Par[],
  {
    store,
    sessions,
    least,
    refusedIn,
  }: { store: EvidenceStore; sessions: readonly SessionSummary[]; least: number; refusedIn: RefusalsByTool },
): Promise<void> {
  const project = await openProject(root, io.env);
  printTrustWarning(io, project);
  const { specs } = project;
  const proposal = proposeSpecChanges(specs, pars, least, refusedIn);
  const isChanged = proposal.changes.length > 0;
  const proofs = isChanged ? proveProperties(proposal.specs) : [];
  const held = new Set(isChanged ? proveProperties(specs).flatMap((each) => (each.holds ? [each.property] : [])) : []);
  const broken = proofs.filter(({ holds, property }) => !holds && held.has(property));
  const replayed: SessionReplay[] = [];
  for (const session of isChanged ? sessions : []) {
    const pin = await readPinOrThrow(store, session);
    const entries = store.entries(session.sessionId);
    const other = { specs: proposal.specs, config: pin.config };
    replayed.push(await replayDecisions(pin, other, session.sessionId, entries, (hash) => store.getBlob(hash)));
  }
  if (broken.length > 0) io.exitCode = 1;
  const { changes, open, specs: next } = proposal;
  if (io.json)
    printJson(io, { reviews: pars.length, hash: next.hash, changes, open, properties: proofs, replay: replayed });
  else show(io, proposal, proofs, broken, replayed);
}

function show(
  io: Io,
  { changes, open }: SpecProposal,
  proofs: readonly PropertyProof[],
  broken: readonly PropertyProof[],
  replayed: readonly SessionReplay[],
): void {
  print(io, formatHeading(io, 'Proposed changes'));
  if (changes.length === 0) print(io, 'None.');
  else {
    const rows = changes.map(({ peripheral, change, because, reviews }) => [peripheral, change, because, `${reviews}`]);
    printTable(io, ['peripheral', 'change', 'because', 'reviews'], rows);
    print(io, `\n${formatHeading(io, 'Properties')}`);
    print(
      io,
      `${proofs.filter(({ holds }) => holds).length} of ${proofs.length} hold; the changes break ${broken.length}.`,
    );
    for (const { property, message } of broken)
      print(io, `  ${escapeInvisible(property)}: ${escapeInvisible(message ?? '')}`);
    print(io, `\n${formatHeading(io, 'Replay')}`);
    for (const { sessionId, decisions, changes: other } of replayed) {
      print(io, `${escapeInvisible(sessionId)}: ${plural(decisions, 'decision')}, ${other.length} would change`);
      for (const { seq, request, was, now } of other)
        print(io, `  ${seq}  ${escapeInvisible(request)}: ${escapeInvisible(was)} → ${escapeInvisible(now)}`);
    }
  }
  if (open.length === 0) return;
  print(io, `\n${formatHeading(io, 'Left to the author')}`);
  const rows = open.map(({ problem, reviews, why }) => [problem, `${reviews}`, why]);
  printTable(io, ['problem', 'reviews', 'why'], rows);
}
