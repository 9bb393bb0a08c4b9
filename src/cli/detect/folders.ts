import type { Tree } from './tree.ts';

/** Folders that people edit. The operator must add others, such as build output, vendored code and hidden folders. */
const EDITABLE = new Set(
  (
    'src source lib libs app apps packages crates cmd internal pkg components pages public assets styles static templates ' +
    'docs doc examples scripts test tests spec __tests__ e2e bench benches migrations'
  ).split(' '),
);

const SOURCE = /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|c|cc|cpp|h|hpp|sh|css|html)$/;
const MANY = 20;

/**
 * The proposed edit scope: the usual folders that exist, Python packages, and source files at the root if there are
 * few.
 */
export function editScope(tree: Tree): readonly string[] {
  const names = tree.list('');
  const folders = names.filter(
    (name) => name.endsWith('/') && (EDITABLE.has(name.slice(0, -1)) || tree.list(name).includes('__init__.py')),
  );
  // Excludes configuration: it decides what tests run, so an agent must not write it unasked.
  const files = names.filter(
    (name) => SOURCE.test(name) && !/config|^\.|^deploy\b|^conftest\.py$|^setup\.py$|^noxfile\.py$/.test(name),
  );
  return files.length > MANY ? folders : [...folders, ...files];
}
