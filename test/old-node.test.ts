import { expect, it, vi } from 'vitest';
import { openSession } from '../src/index.ts';

vi.mock('node:module', async (load) => ({
  ...(await load<object>()),
  isBuiltin: (name: string) => name !== 'node:sqlite',
}));

it('an old Node without SQLite is answered with the needed version', async () => {
  await expect(openSession({ root: '.', agent: 'a', store: '/tmp/never.db' })).rejects.toThrow(
    /needs Node 22\.13 .*update Node/,
  );
});
