import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { toBody } from '../../src/evidence/bodies.ts';
import { openSession } from '../../src/open-session.ts';
import { answerRequest, listPendingRequests } from '../../src/operator/answer-request.ts';
import { ensureOperatorToken } from '../../src/operator/operator-token.ts';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import type { Machine } from '../cli/run.ts';

/** A state folder of its own for one test. */
export function stateFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-operator-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export { requestOf } from './request.ts';

/** Answers the pending request with this id as the operator. */
export function say(
  stateDir: string,
  id: string,
  verdict: 'yes' | 'no' = 'yes',
  more: { readonly minutes?: number; readonly now?: number; readonly token?: string } = {},
) {
  const { now = Date.now(), minutes = 60, token = ensureOperatorToken(stateDir) } = more;
  const item = listPendingRequests(stateDir, now).find(({ pending }) => pending.id === id);
  if (!item) throw new Error(`nothing waits under ${id}`);
  return answerRequest(stateDir, item.pending, { verdict, by: 'mary', minutes }, token, now);
}

const answers = (stateDir: string): string => join(stateDir, 'approvals/answers');
export const answerFiles = (stateDir: string): readonly string[] => readdirSync(answers(stateDir));
export const readAnswerFile = (stateDir: string, hash: string): string =>
  readFileSync(join(answers(stateDir), `${hash}.json`), 'utf8');
export const writeAnswerFile = (stateDir: string, hash: string, text: string): void =>
  writeFileSync(join(answers(stateDir), `${hash}.json`), text, { mode: 0o600 });

/** Two sessions with a grant each; `alter` then changes the file of their evidence. */
export async function sessionsWithGrants(
  { root, env }: Pick<Machine, 'root' | 'env'>,
  alter: (db: DatabaseSync, first: string) => unknown,
): Promise<{ readonly ids: readonly string[]; readonly grants: readonly string[] }> {
  const store = join(ensureStateDir(root, env), 'evidence.db');
  const [ids, grants]: [string[], string[]] = [[], []];
  const grant = { until: Date.now() + 60 * 60_000 };
  for (const agent of ['builder', 'other']) {
    const approver = { via: 'approver', approve: async () => ({ by: 'mary', grant }) } as const;
    const session = await openSession({ root, agent, store, approver });
    await session.setMode({ to: 'diagnose' });
    const { evidence } = await session.setMode({ to: 'execute', reason: 'the cause is known' });
    ids.push(session.id);
    grants.push(
      ...evidence.map(({ body }) => toBody(body)).flatMap((body) => (body?.event === 'grant' ? [body.id] : [])),
    );
    await session.detach();
  }
  const db = new DatabaseSync(store);
  alter(db, ids[0]!);
  db.close();
  return { ids, grants };
}
