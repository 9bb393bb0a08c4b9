import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import type { ChainHead } from './entry.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

const Statement = z.strictObject({
  kind: z.literal('hopgate-seal/1'),
  sessionId: z.string().min(1),
  /** Number of sealed entries: seq 0 to size - 1. */
  size: z.int().positive(),
  /** The hash of the last sealed entry in the chain. */
  head: Hash,
  /** The Merkle root (RFC 9162) of the sealed entries. */
  root: Hash,
  sealedAt: z.iso.datetime(),
});
type SealStatement = z.output<typeof Statement>;

const SealFile = z.strictObject({
  statement: Statement,
  /** sha256 (hex) of the public key's SPKI bytes. It helps to find the key and proves nothing. */
  key: Hash,
  /** Base64 of the Ed25519 signature over the RFC 8785 form of the statement. */
  signature: z.base64(),
});
/** A signed statement of a session's chain head. Keep it where a writer of the store cannot change it. */
export type Seal = z.output<typeof SealFile>;

/** Thrown if a file that should be a key or a seal is not one. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

export function newSealKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privateKey: pem(privateKey), publicKey: pem(publicKey) };
}

/** The public key that belongs to a private key. Both are PEM text. @throws SealError */
export const publicKeyOf = (privateKey: string): string => pem(createPublicKey(readPrivate(privateKey)));

/** Signs a session's chain head. @param privateKey PEM of an Ed25519 key. @throws SealError */
export function signChainHead(
  { sessionId, head, root }: { readonly sessionId: string; readonly head: ChainHead; readonly root: Uint8Array },
  privateKey: string,
  now: number,
): Seal {
  const key = readPrivate(privateKey);
  const statement = Statement.parse({
    kind: 'hopgate-seal/1',
    sessionId,
    size: head.seq + 1,
    head: head.hash,
    root: Buffer.from(root).toString('hex'),
    sealedAt: new Date(now).toISOString(),
  });
  return {
    statement,
    key: fingerprint(createPublicKey(key)),
    signature: sign(null, bytesOf(statement), key).toString('base64'),
  };
}

export function parseSeal(text: string): Seal {
  try {
    return SealFile.parse(JSON.parse(text));
  } catch (cause) {
    throw new SealError('this is not a seal: it is not the JSON that hopgate seal writes', { cause });
  }
}

/**
 * True if the seal was made with the private key of this public key and was not altered. @throws SealError if the text
 * is not a key
 */
export const isSignedBy = ({ statement, signature }: Seal, publicKey: string): boolean =>
  verify(null, bytesOf(statement), readKey(publicKey, createPublicKey), Buffer.from(signature, 'base64'));

/** Head and Merkle roots of a session that was read to its end. */
interface SealedSessionRead {
  readonly sessionId: string;
  readonly size: number;
  /** Hash of the entry at seq `seal.size - 1`, and the Merkle root up to this entry; null if the session is shorter. */
  readonly sealed: { readonly head: string; readonly root: Uint8Array } | null;
}

/** Describes how a session differs from its seal; null if it begins with the sealed entries. */
export function sealProblem({ statement }: Seal, read: SealedSessionRead): string | null {
  const { sessionId, size, head, root } = statement;
  if (read.sessionId !== sessionId) return `the seal is of session ${sessionId}, not of ${read.sessionId}`;
  if (read.sealed === null)
    return `entries were cut off: ${size} were sealed on ${statement.sealedAt}, ${read.size} are left`;
  if (read.sealed.head !== head) return `entry ${size - 1} is not the one that was sealed: the chain was rewritten`;
  return Buffer.from(read.sealed.root).toString('hex') === root ? null : 'an entry before the sealed head was replaced';
}

const bytesOf = (statement: SealStatement): Buffer => Buffer.from(canonicalize(statement) ?? '');
const fingerprint = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');
const pem = (key: KeyObject): string =>
  key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }).toString();

const readPrivate = (text: string): KeyObject => readKey(text, createPrivateKey);

function readKey(text: string, read: (text: string) => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = read(text);
  } catch (cause) {
    throw new SealError('this is not a key in PEM', { cause });
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new SealError(`this is a key of ${key.asymmetricKeyType}, not of ed25519`);
  return key;
}
