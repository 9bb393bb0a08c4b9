import { expect, it } from 'vitest';
import { commitAll, machine } from './run.ts';

it('explain --session answers as the session would answer now, by its place, mode and evidence', async () => {
  const { root, run, feed } = machine({ 'src/a.txt': 'a\n' });
  commitAll(root);
  const sessions: string[] = [];
  /** Plays lines at the prompt, and asks about a call in the session that this leaves. */
  const ask = async (lines: string, ...call: string[]) => {
    await feed(lines, 'shell');
    const all = (await run('sessions', '--json')).out.trim().split('\n');
    const ids = all.map((line) => (JSON.parse(line) as { sessionId: string }).sessionId);
    const id = ids.find((each) => !sessions.includes(each))!;
    sessions.push(id);
    const { code, out } = await run('explain', '--session', id, ...call);
    return [code, out.split('\n')[0]];
  };
  const inExplore = 'mode diagnose\nstart explore\nread src/a.txt';
  expect(await ask(inExplore, '-t', 'read', 'src/a.txt')).toEqual([0, 'allowed  read in explore, mode diagnose']);
  expect(await ask(inExplore, '-t', 'write', 'src/b.txt', 'b')).toEqual([
    1,
    'refused  write in explore, mode diagnose',
  ]);
  expect(await ask(`${inExplore}\nstop done`, '-t', 'read', 'src/a.txt')).toEqual([
    1,
    'refused  read outside of any peripheral, mode diagnose',
  ]);
  const json = await run('explain', '-t', 'read', '--json', 'src/a.txt');
  expect(json).toMatchObject({ code: 2, all: expect.stringContaining('no peripheral is named') });
});

it('explain says that a repository has no sessions', async () => {
  const { run } = machine();
  expect(await run('explain', '--session', 's-none', '-t', 'read')).toMatchObject({
    code: 1,
    err: expect.stringContaining('has no sessions yet'),
  });
});
