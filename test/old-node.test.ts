import { expect, it, onTestFinished, vi } from 'vitest';
import { openSession } from '../src/index.ts';

it('openSession names the needed version on an old Node without SQLite', async () => {
  const old = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
  onTestFinished(() => old.mockRestore());
  await expect(openSession({ root: '.', agent: 'a', store: '/tmp/never.db' })).rejects.toThrow(
    /needs Node 22\.13 .*update Node/,
  );
});
