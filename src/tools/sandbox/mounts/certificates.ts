import { X509Certificate } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '../../../base/read-file.ts';
import { valueOr } from '../../../base/value-or.ts';
import { compileMasks } from '../../../gate/scope/masks.ts';
import { DEFAULT_MASKS } from '../../../spec/policy/default-masks.ts';

/** The default mask of files that hold keys or only certificates. */
const PEM = '*.pem';
/** Maximum size of a file that is read; bundles of certificates are smaller. */
const MAX_BYTES = 2 << 20;
const BLOCK = /-----BEGIN ([^-]+)-----[\s\S]*?-----END \1-----/g;

/** Results of earlier checks by path, with the state of the file. */
const checkedFiles = new Map<string, { readonly stamp: string; readonly isPublic: boolean }>();

/**
 * Returns a test of masked paths (root-relative): true if the file holds only certificates, and only the default mask
 * `*.pem` matches it. Such a file is not secret, so commands see it. Masks of the operator always hold.
 */
export function makeCertificateTest(root: string, masks: readonly string[]): (path: string) => boolean {
  if (!DEFAULT_MASKS.every((mask) => masks.includes(mask))) return () => false;
  const maskedOtherwise = compileMasks(masks.filter((mask) => mask !== PEM));
  return (path) => !maskedOtherwise(path) && holdsOnlyCertificates(join(root, path));
}

/** The state of a file; different after each change of it. Empty if hopgate cannot find the file. */
export function fileStateStamp(path: string): string {
  const stat = valueOr(() => lstatSync(path, { bigint: true }), null);
  return stat === null ? '' : [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
}

function holdsOnlyCertificates(path: string): boolean {
  const stamp = fileStateStamp(path);
  const cached = checkedFiles.get(path);
  if (cached?.stamp === stamp) return cached.isPublic;
  const isPublic = areCertificates(path);
  checkedFiles.set(path, { stamp, isPublic });
  return isPublic;
}

function areCertificates(path: string): boolean {
  try {
    const text = readRegularFile(path, MAX_BYTES).toString('utf8');
    const blocks = [...text.matchAll(BLOCK)];
    // Text between the blocks only names the certificates. A key or an incomplete block is not allowed.
    if (blocks.length === 0 || /-----|PRIVATE|SECRET|PASSWORD|TOKEN/i.test(text.replace(BLOCK, ''))) return false;
    return blocks.every(([block, kind]) => kind === 'CERTIFICATE' && new X509Certificate(block).fingerprint !== '');
  } catch {
    return false;
  }
}
