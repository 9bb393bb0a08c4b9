import type { ConcludeCallResult } from '../../session/native/native-steps.ts';

/** The findings on the files that a client's own call changed, for its model; null if there are none. */
export function describeFindings(concluded: ConcludeCallResult): string | null {
  if (!concluded.ok || concluded.findings.length === 0) return null;
  const found = concluded.findings.map(({ path, why }) => `${path}: ${why}`).join('\n');
  return `hopgate recorded findings on this change. The operator sees them before it ships:\n${found}`;
}
