import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTrust } from '../cli/trust-record.ts';
import type { Env } from './state-home.ts';

/** For the person at a client program: that a new session passes over much of a hopgate.yaml; null: it is trusted as it stands, or is not there. */
export function untrustedConfig(root: string, env: Env): string | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(root, 'hopgate.yaml'));
  } catch {
    return null;
  }
  const trusted = readTrust(root, env)?.config;
  if (trusted === hash('sha256', bytes)) return null;
  const why = trusted === undefined ? 'is not trusted' : 'is not what you have trusted';
  return `${join(root, 'hopgate.yaml')} ${why}, so that this session has the default specs and only what the file narrows; read it, then run "hopgate trust"`;
}
