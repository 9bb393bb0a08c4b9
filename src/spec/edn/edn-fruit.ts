/** The fruit of the five original peripherals, in the form of YAML, because their EDN does not define it. */
export const FRUIT_OF_EDN_PERIPHERALS: { readonly [peripheral: string]: { readonly [field: string]: object } } = {
  explore: {
    found: { observed: 'list' },
    'target-files': { observed: 'list', from: 'found' },
    summary: { stated: 'string', optional: true },
  },
  edit: {
    changes: { observed: 'integer' },
    'changed-files': { observed: 'list' },
    'ready-to-test': { stated: 'boolean', optional: true },
    'commit-message': { stated: 'string', optional: true },
  },
  test: {
    result: { observed: ['pass', 'fail', 'flaky'] },
    'test-count': { observed: 'integer' },
    failures: { observed: 'list' },
  },
  deploy: { committed: { observed: 'boolean' }, pushed: { observed: 'boolean' }, sha: { observed: 'string' } },
  reflect: { par: { observed: 'object' } },
};

export const PURPOSE_OF_EDN_PERIPHERALS: { readonly [peripheral: string]: string } = {
  explore: 'Understand the codebase, find relevant files, research.',
  edit: 'Make changes to code.',
  test: 'Verify that the changes work.',
  deploy: 'Ship the change.',
  reflect: 'Generate the post-action review.',
};
