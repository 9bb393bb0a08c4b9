import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { answerRequest, listPendingRequests } from '../../src/operator/answer-request.ts';
import { ensureOperatorToken } from '../../src/operator/operator-token.ts';

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
