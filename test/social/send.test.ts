import { expect, it } from 'vitest';
import { machine } from '../cli/run.ts';

it('hopgate send opens a session for a message to nobody, gates an action, and finds the outcome', async () => {
  const at = machine({ 'a.txt': 'a\n' });
  const first = JSON.parse((await at.run('send', 'Who owns the deploy?', '--id', 'm-1', '--json')).out);
  expect(first).toMatchObject({ ok: true, opened: true, mode: 'discuss', talk: 'coordination' });
  const refused = await at.run('send', '--to', first.to, 'Delete the index.');
  expect(refused.code).toBe(1);
  expect(refused.err).toContain(`dispatch: the message asks for an action (act), and ${first.to} is in discuss`);
  const late = await at.run('whistle', first.to, 'Which port?', '--as', 'ann', '--seconds', '0');
  expect(late.out).toMatch(
    /^No answer to m-\S+ yet\. A late answer arrives in the inbox: hopgate inbox --as ann --root \//,
  );
  expect((await at.run('send', '--to', 'person:operator', 'Delete the index.')).out).toContain(
    'action, task-submission.',
  );
  expect((await at.run('inbox')).out).toContain('request, id m-');
  expect((await at.run('send', '--outcome', 'm-1')).out).toBe('m-1: coordination-complete, sent.\n');
  expect((await at.run('send', '--outcome', 'm-9')).err).toContain('the pipeline sent no message "m-9"');
  expect(await at.run('verify', '--strict')).toMatchObject({ code: 0 });
  expect((await at.run('send', 'a', '--payload', '{}')).code).toBe(2);
});
