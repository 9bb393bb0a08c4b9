import type { Tree } from './tree.ts';

/** Folders that hold what people edit. Anything else (build output, vendored code, hidden folders) is left to the operator to add. */
const EDITABLE = new Set(
  (
    'src source lib libs app apps packages crates cmd internal pkg components pages public assets styles static templates ' +
    'docs doc examples scripts test tests spec __tests__ e2e bench benches migrations'
  ).split(' '),
);

const SOURCE = /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|c|cc|cpp|h|hpp|sh|css|html)$/;
const MANY = 20;

/** What edit may write here: the usual folders that exist, Python packages, and source files at the root while they are few. */
export function editScope(tree: Tree): readonly string[] {
  const names = tree.list('');
  const folders = names.filter(
    (name) => name.endsWith('/') && (EDITABLE.has(name.slice(0, -1)) || tree.list(name).includes('__init__.py')),
  );
  // Configuration decides what tests run; it is no place for an agent to write unasked.
  const files = names.filter(
    (name) => SOURCE.test(name) && !/config|^\.|^deploy\b|^conftest\.py$|^setup\.py$|^noxfile\.py$/.test(name),
  );
  return files.length > MANY ? folders : [...folders, ...files];
}
