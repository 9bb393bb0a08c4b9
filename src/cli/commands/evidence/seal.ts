import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolders, writeNamedFile, writeNewFile } from '../../../base/files.ts';
import { plural } from '../../../base/text.ts';
import { valueOr } from '../../../base/value-or.ts';
import { verifyChain } from '../../../evidence/chain.ts';
import type { StoredEntry } from '../../../evidence/entry.ts';
import { MerkleFrontier, merkleLeafOfEntry } from '../../../evidence/merkle.ts';
import { newSealKey, publicKeyOf, type Seal, SealError, signChainHead } from '../../../evidence/seal.ts';
import type { EvidenceStore } from '../../../ports/evidence-store.ts';
import { ensureStateDir } from '../../../project/state-dir.ts';
import { chooseSessions, withExistingSessions } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, printJson, printRemark, printResult, readNamedFile } from '../../io.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';

interface Options extends RootOption {
  readonly key?: string;
  readonly out?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      "Signs the head of a session's chain and the Merkle root of its entries (Ed25519). Keep the seal and the public key in a place that writers of the evidence cannot reach. 'hopgate verify --seal' then finds each sealed entry that was changed or removed. The first use creates the key.",
    )
    .argument('<session>', 'the id of the session, or its first characters')
    .addOption(rootOption())
    .option('--key <file>', 'an Ed25519 private key in PEM (default: one in the state folder)')
    .option('--out <file>', 'write the seal to this file')
    .examples(
      'hopgate seal s-4f1c --out s-4f1c.seal.json',
      'hopgate verify s-4f1c --seal s-4f1c.seal.json --key seal.pub.pem',
    )
    .action((session: string, options: Options) => seal(io, session, options));
}

async function seal(io: Io, id: string, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const seal = await withExistingSessions(io, root, async (store) => {
    const [session] = await chooseSessions(store, [id]);
    const privateKey = options.key === undefined ? ownKey(io, root) : readNamedFile(io, options.key);
    return sealSession(store, session!.sessionId, privateKey);
  });
  if (options.out === undefined) return printJson(io, seal);
  const file = resolve(io.cwd, options.out);
  writeNamedFile(file, `${JSON.stringify(seal, null, 2)}\n`);
  const { size, sessionId } = seal.statement;
  printResult(io, seal, `${plural(size, 'entry', 'entries')} of ${sessionId} sealed: ${file}`);
}

/** Refuses to seal a damaged log, because the seal would confirm the damage. */
async function sealSession(store: EvidenceStore, sessionId: string, privateKey: string): Promise<Seal> {
  const tree = new MerkleFrontier();
  const check = await verifyChain(growTree(tree, store.entries(sessionId)));
  if (!check.ok)
    throw new CliError(
      'damaged',
      `the log of ${sessionId} is damaged: ${check.problems[0]?.message}`,
      `Run "hopgate verify ${sessionId}".`,
    );
  try {
    return signChainHead({ sessionId, head: check.head, root: tree.root() }, privateKey, Date.now());
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new CliError('invalid-key', cause.message, 'Name an Ed25519 private key in PEM with --key.', { cause });
  }
}

async function* growTree(tree: MerkleFrontier, entries: AsyncIterable<StoredEntry>): AsyncGenerator<StoredEntry> {
  for await (const stored of entries) {
    tree.add(merkleLeafOfEntry(stored.entry));
    yield stored;
  }
}

/** The repository's own key, outside of the root (0600). Whoever can read the state folder can sign with it. */
function ownKey(io: Io, root: string): string {
  const folder = join(ensureStateDir(root, io.env), 'keys');
  makeFolders(folder, 0o700);
  const file = join(folder, 'seal.pem');
  const existing = valueOr(() => readFileSync(file, 'utf8'), null, ['ENOENT']);
  if (existing !== null) return existing;
  const { privateKey } = newSealKey();
  if (!writeNewFile(file, privateKey)) return readFileSync(file, 'utf8');
  const publicFile = join(folder, 'seal.pub.pem');
  writeNamedFile(publicFile, publicKeyOf(privateKey));
  printRemark(io, `created a key; keep a copy of ${publicFile} elsewhere`);
  return privateKey;
}
