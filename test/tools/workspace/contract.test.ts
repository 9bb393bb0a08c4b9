import { workspaceBackend } from '../../../src/tools/workspace/workspace-backend.ts';
import { type ContractCase, type LinkCases, toolBackendContract } from '../../contracts/tool-backend.ts';

const cases: readonly ContractCase[] = [
  { what: 'read a file', tool: 'read', args: { path: 'src/main.ts' }, ends: 'ok', effects: ['src/main.ts'] },
  {
    what: 'read what is not there',
    tool: 'read',
    args: { path: 'src/none.ts' },
    ends: 'failed',
    code: 'not-found',
    effects: [],
  },
  {
    what: 'read beside',
    tool: 'read',
    args: { path: '../beside/secret.txt' },
    ends: 'refused',
    code: 'out-of-scope',
    effects: [],
  },
  { what: 'glob', tool: 'glob', args: { pattern: '**/*.ts' }, ends: 'ok', effects: [] },
  {
    what: 'glob beside',
    tool: 'glob',
    args: { pattern: '*', path: '../beside' },
    ends: 'refused',
    code: 'out-of-scope',
  },
  { what: 'grep', tool: 'grep', args: { pattern: 'one' }, ends: 'ok', effects: [] },
  { what: 'grep for nonsense', tool: 'grep', args: { pattern: '(' }, ends: 'failed', code: 'bad-pattern' },
  {
    what: 'edit',
    tool: 'edit',
    args: { path: 'src/main.ts', old: '1', new: '2' },
    ends: 'ok',
    effects: ['src/main.ts'],
  },
  { what: 'write', tool: 'write', args: { path: 'src/a/b.ts', content: 'b' }, ends: 'ok', effects: ['src/a/b.ts'] },
  {
    what: 'write beside',
    tool: 'write',
    args: { path: '../root-evil/main.ts', content: '' },
    ends: 'refused',
    code: 'out-of-scope',
  },
];

const out = { ends: 'refused', code: 'out-of-scope' } as const;
const links: LinkCases = [
  { what: 'read by a link', tool: 'read', args: { path: 'src/secret.txt' }, ...out },
  { what: 'read below a link', tool: 'read', args: { path: 'src/out/secret.txt' }, ...out },
  { what: 'glob below a link', tool: 'glob', args: { pattern: '*', path: 'src/out' }, ...out },
  { what: 'grep all', tool: 'grep', args: { pattern: 'outsid.' }, ends: 'ok' },
  { what: 'edit by a link', tool: 'edit', args: { path: 'src/secret.txt', old: 'out', new: 'in' }, ...out },
  { what: 'write below a link', tool: 'write', args: { path: 'src/out/new.txt', content: '' }, ...out },
];

toolBackendContract('workspace', () => ({ backend: workspaceBackend(), cases }), links);
toolBackendContract(
  'workspace by real paths',
  () => ({ backend: workspaceBackend({ containment: 'real-path' }), cases }),
  links,
);
