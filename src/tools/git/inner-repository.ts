import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsOf } from '../../base/json.ts';
import type { CallEnvelope, ToolReport } from '../../ports/tool-backend.ts';

/** The topmost folder on a root-relative path that is a repository, such as a submodule; null if none is. */
export function findInnerRepository(root: string, path: string): string | null {
  const names = path === '' ? [] : path.split('/');
  const folders = names.map((_, at) => names.slice(0, at + 1).join('/'));
  return folders.find((folder) => existsSync(join(root, folder, '.git'))) ?? null;
}

export const innerRepositoryRemedy = (inner: string): string =>
  `Ask the operator to open a session with the root ${inner}, and commit its changes there.`;

const ABOUT_CHANGES = ['status', 'diff', 'add', 'commit', 'push'];

/** Adds the repositories inside the root whose files the session changed, because git does not look into them here. */
export function reportInnerRepositories(report: ToolReport, { root, shipping }: CallEnvelope): ToolReport {
  const { outcome } = report;
  if (outcome.status !== 'ok') return report;
  const result = fieldsOf(outcome.result);
  if (!ABOUT_CHANGES.includes(String(result['sub']))) return report;
  const inner = new Set(
    (shipping?.changed ?? []).map((path) => findInnerRepository(root, path)).filter((at) => at !== null),
  );
  if (inner.size === 0) return report;
  const elsewhere = [...inner].map(
    (folder) =>
      `This session changed files in ${folder}, a repository of its own: they are not shown and do not ship from here. ${innerRepositoryRemedy(folder)}`,
  );
  return { ...report, outcome: { ...outcome, result: { ...result, elsewhere: elsewhere.join(' ') } } };
}
