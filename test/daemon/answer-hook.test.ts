import { describe, expect, it } from 'vitest';
import type { HookAnswer, HookContext } from '../../src/adapters/core/hook-context.ts';
import { decodeAnswerFrame, encodeAnswerFrame } from '../../src/daemon/hook/answer-frame.ts';
import { answerHook, HOOK_HANDLERS } from '../../src/daemon/hook/answer-hook.ts';

const host = {} as HookContext;
const answering = (handle: () => unknown) => ({ claude: async () => async () => handle() as Promise<HookAnswer> });

const ask = (handle: () => unknown, raw = '{}', deadlineMs = 60_000) =>
  answerHook('claude', raw, {}, host, { handlers: answering(handle), deadlineMs });

describe('the answer to a hook', () => {
  it('is the handler’s reply', async () => {
    const allow = { exit: 0, stdout: '{"a":1}', stderr: '' };
    expect(await ask(async () => allow)).toEqual(allow);
    expect(await ask(async () => ({ exit: 2, stdout: '', stderr: 'no' }))).toEqual({
      exit: 2,
      stdout: '',
      stderr: 'no',
    });
  });

  it('has no stdout if it is a refusal, and no stderr otherwise', async () => {
    expect(await ask(async () => ({ exit: 2, stdout: '{"allow":1}', stderr: 'no' }))).toMatchObject({ stdout: '' });
    expect(await ask(async () => ({ exit: 0, stdout: '', stderr: 'warning' }))).toMatchObject({ stderr: '' });
  });

  it.each<[string, () => unknown, string]>([
    ['a handler that throws', () => Promise.reject(new Error('it broke')), 'it broke'],
    [
      'a handler that throws at once',
      () => {
        throw new Error('at once');
      },
      'at once',
    ],
    ['a handler that throws no error', () => Promise.reject('text'), 'text'],
    ['no answer', async () => undefined, ''],
    ['an answer that is none', async () => ({}), 'is invalid'],
    ['another exit', async () => ({ exit: 1, stdout: '', stderr: 'x' }), 'is invalid'],
    ['a refusal without a reason', async () => ({ exit: 2, stdout: '', stderr: ' \n' }), 'no reason'],
    ['an allow that is not text', async () => ({ exit: 0, stdout: { a: 1 }, stderr: '' }), 'is invalid'],
  ])('is a refusal with a reason for %s', async (_, handle, why) => {
    const answer = await ask(handle);
    expect(answer).toMatchObject({ exit: 2, stdout: '' });
    expect(answer.stderr).toContain(why);
    expect(answer.stderr).toMatch(/refused/);
  });

  it.each(['', '{', 'null}', '\0'])('is a refusal for the input %j', async (raw) => {
    expect(await ask(async () => ({ exit: 0, stdout: '', stderr: '' }), raw)).toMatchObject({ exit: 2, stdout: '' });
  });

  it('is a refusal for an unknown client program', async () => {
    const answer = await answerHook('toString', '{}', {}, host);
    expect(answer).toMatchObject({ exit: 2, stdout: '' });
    expect(answer.stderr).toContain('claude-code, codex');
  });

  it('is a refusal if the handler does not end', async () => {
    const answer = await ask(() => new Promise(() => {}), '{}', 10);
    expect(answer).toMatchObject({ exit: 2, stdout: '' });
    expect(answer.stderr).toMatch(/longer than/);
  });

  it('counts as delivered only if it came before the deadline', async () => {
    const given: string[] = [];
    const answer = (name: string) => ({
      exit: 0,
      stdout: '',
      stderr: '',
      onDelivered: async () => void given.push(name),
    });
    expect(await ask(async () => answer('in time'))).toEqual({ exit: 0, stdout: '', stderr: '' });
    let end = () => {};
    const late = new Promise<void>((resolve) => (end = resolve));
    expect(await ask(() => late.then(() => answer('late')), '{}', 10)).toMatchObject({ exit: 2 });
    end();
    await late;
    await new Promise((resolve) => setImmediate(resolve));
    expect(given).toEqual(['in time']);
  });

  it('is a refusal if the real handlers get an unreadable event', async () => {
    for (const client of Object.keys(HOOK_HANDLERS))
      for (const raw of ['null', '[]', '1', '"x"', '{}', '{"hook_event_name":"PreToolUse"}', '{"session_id":1}'])
        expect(await answerHook(client, raw, {}, host), `${client} ${raw}`).toMatchObject({ exit: 2, stdout: '' });
  });
});

describe('an answer in frames', () => {
  it('reads back unchanged, and is rejected unless it is complete', () => {
    const whole = encodeAnswerFrame({ exit: 2, stdout: 'ä\n', stderr: 'b' });
    expect(decodeAnswerFrame(whole)).toEqual({ exit: 2, stdout: Buffer.from('ä\n'), stderr: Buffer.from('b') });
    for (let length = 0; length < whole.length; length++)
      expect(decodeAnswerFrame(whole.subarray(0, length))).toBeNull();
    expect(decodeAnswerFrame(Buffer.concat([whole, Buffer.from('x')]))).toBeNull();
  });
});
