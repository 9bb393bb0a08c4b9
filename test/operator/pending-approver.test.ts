import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { APPROVAL_KINDS } from '../../src/gate/approvals/approval.ts';
import { answerIfUnanswered, listPendingRequests, type RequestAndAnswer } from '../../src/operator/answer-request.ts';
import { approverInAdvance, fallbackApprover } from '../../src/operator/fallback-approver.ts';
import { ensureOperatorToken, operatorTokenFile } from '../../src/operator/operator-token.ts';
import { askHereOrElsewhere, pendingApprover } from '../../src/operator/pending-approver.ts';
import type { Approver } from '../../src/ports/approver.ts';
import { answerFiles, readAnswerFile, requestOf, say, stateFolder, writeAnswerFile } from './support.ts';

class Hand {
  time = Date.now();
  now = () => this.time;
}

function world(options: { readonly waitMs?: number } = {}) {
  const stateDir = stateFolder();
  const clock = new Hand();
  const approver = pendingApprover({ stateDir, root: '/repo', clock, ...options });
  return { stateDir, clock, approver, ask: (changes = {}) => approver.approve(requestOf(changes)) };
}

async function pendingId(answer: ReturnType<Approver['approve']>): Promise<string> {
  const given = await answer;
  if (given && 'pending' in given) return given.pending;
  throw new Error(`it was answered: ${JSON.stringify(given)}`);
}

describe('a pending request', () => {
  it('has a short id and a file that only its owner can read', async () => {
    const { stateDir, ask } = world();
    const id = await pendingId(ask());
    expect(id).toMatch(/^[a-z2-9]{6}$/);
    const [item] = listPendingRequests(stateDir);
    expect(item?.pending).toMatchObject({ id, root: '/repo', request: requestOf() });
    const folder = join(stateDir, 'approvals/pending');
    expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it.each(APPROVAL_KINDS)('is listed for an action of the kind %s', async (kind) => {
    const { stateDir, ask } = world();
    const place = { from: 'test', to: 'deploy' };
    const id = await pendingId(ask({ action: kind === 'hop' ? { kind, exit: 'pass', ...place } : { kind, ...place } }));
    expect(listPendingRequests(stateDir)).toMatchObject([{ pending: { id, request: { action: { kind } } } }]);
  });

  it('is listed after those that were asked before, also in the same millisecond', async () => {
    const { stateDir, ask } = world();
    const ids: string[] = [];
    for (let nth = 0; nth < 10; nth += 1) ids.push(await pendingId(ask({ reason: `request ${nth}` })));
    expect(listPendingRequests(stateDir).map(({ pending }) => pending.id)).toEqual(ids);
  });

  it('keeps its id when it is repeated, here or in another process', async () => {
    const { stateDir, ask, clock } = world();
    const id = await pendingId(ask());
    expect(await pendingId(ask())).toBe(id);
    expect(await pendingId(pendingApprover({ stateDir, root: '/repo', clock }).approve(requestOf()))).toBe(id);
    expect(listPendingRequests(stateDir)).toHaveLength(1);
  });

  it('is a new one if any part differs', async () => {
    const { ask } = world();
    const ids = [
      await pendingId(ask()),
      await pendingId(ask({ reason: 'because' })),
      await pendingId(ask({ sessionId: 's-2' })),
      await pendingId(ask({ view: {} })),
    ];
    expect(new Set(ids).size).toBe(4);
  });

  it('is removed after a day', async () => {
    const { stateDir, ask, clock } = world();
    const id = await pendingId(ask());
    clock.time += 24 * 60 * 60_000;
    expect(listPendingRequests(stateDir, clock.time)).toEqual([]);
    expect(await pendingId(ask())).not.toBe(id);
  });

  it('is removed if its session makes too many; other sessions keep theirs', async () => {
    const { stateDir, ask, clock } = world();
    const other = await pendingId(ask({ sessionId: 's-2' }));
    const ids: string[] = [];
    for (let n = 0; n < 25; n += 1) {
      clock.time += 1;
      ids.push(await pendingId(ask({ reason: `reason ${n}` })));
    }
    expect(listPendingRequests(stateDir).map(({ pending }) => pending.id)).toEqual([other, ...ids.slice(5)]);
  });

  it('is refused if it is too long for a person to read', async () => {
    const { stateDir, ask } = world();
    expect(await ask({ view: { fruit: 'x'.repeat(1 << 20) } })).toBeNull();
    expect(listPendingRequests(stateDir)).toEqual([]);
  });
});

describe('the operator’s answer', () => {
  it('is found once when the same request is repeated', async () => {
    const { stateDir, ask } = world();
    const id = await pendingId(ask());
    say(stateDir, id);
    expect(await ask()).toEqual({ by: 'mary', minutes: expect.closeTo(60, 0) });
    expect(listPendingRequests(stateDir)).toEqual([]);
    expect(await pendingId(ask())).not.toBe(id);
  });

  it('is valid until it expires', async () => {
    const { stateDir, ask, clock } = world();
    const id = await pendingId(ask());
    say(stateDir, id, 'yes', { minutes: 10, now: clock.time });
    clock.time += 10 * 60_000 - 1;
    expect(await ask()).toMatchObject({ by: 'mary' });
    const again = await pendingId(ask());
    say(stateDir, again, 'yes', { minutes: 10, now: clock.time });
    clock.time += 10 * 60_000;
    expect(await pendingId(ask())).toBe(again);
  });

  it('is used once also if it is no; then the request can be made again', async () => {
    const { stateDir, ask } = world();
    const id = await pendingId(ask());
    say(stateDir, id, 'no');
    expect(await ask()).toEqual({ declined: 'mary' });
    expect(await pendingId(ask())).not.toBe(id);
  });

  it('can be changed until it is used', async () => {
    const { stateDir, ask } = world();
    const id = await pendingId(ask());
    say(stateDir, id, 'yes');
    say(stateDir, id, 'no');
    expect(await ask()).toEqual({ declined: 'mary' });
  });

  it('is waited for if the caller wants that', async () => {
    const { stateDir, ask } = world({ waitMs: 60_000 });
    const given = ask();
    while (listPendingRequests(stateDir).length === 0) await new Promise((done) => setTimeout(done, 5));
    say(stateDir, listPendingRequests(stateDir)[0]?.pending.id ?? '');
    expect(await given).toMatchObject({ by: 'mary' });
  });

  it('is not waited for longer than the caller wants', async () => {
    const { ask } = world({ waitMs: 30 });
    expect(await ask()).toHaveProperty('pending');
  });
});

describe('an answer to a request is ignored', () => {
  /** A request with a valid yes; after the given change, the request must stay unanswered. */
  async function answered() {
    const made = world();
    const request = requestOf();
    const id = await pendingId(made.ask());
    const signed = say(made.stateDir, id, 'yes');
    return { ...made, request, id, signed };
  }

  it.each<[string, (text: string) => string]>([
    ['an empty file', () => ''],
    ['a text that is not JSON', () => '{'],
    ['JSON of another form', () => '[1, null]'],
    ['an object without a signature', () => '{"verdict":"yes"}'],
    ['binary data', () => '\u0000\u0001'],
    ['the answer with an empty signature', (text) => text.replace(/"mac": "[0-9a-f]+"/, '"mac": ""')],
    [
      'the answer with a signature of zeros',
      (text) => text.replace(/"mac": "[0-9a-f]+"/, `"mac": "${'0'.repeat(64)}"`),
    ],
    [
      'the answer with a later expiry',
      (text) => text.replace(/"expiresAt": (\d+)/, (_, at) => `"expiresAt": ${Number(at) + 1}`),
    ],
    ['the answer with another name', (text) => text.replace('mary', 'max')],
    ['the answer with one more field', (text) => text.replace('{', '{ "note": "",')],
    ['the answer and 4 MiB of blanks', (text) => text + ' '.repeat(4 << 20)],
  ])('if its file has been changed to %s', async (_what, spoil) => {
    const { stateDir, ask, request, id } = await answered();
    writeAnswerFile(stateDir, request.hash, spoil(readAnswerFile(stateDir, request.hash)));
    expect(await pendingId(ask())).toBe(id);
  });

  it('if it is a no changed to a yes', async () => {
    const { stateDir, ask, request, id } = await answered();
    say(stateDir, id, 'no');
    writeAnswerFile(stateDir, request.hash, readAnswerFile(stateDir, request.hash).replace('"no"', '"yes"'));
    expect(await pendingId(ask())).toBe(id);
  });

  it('if it is a link or a folder', async () => {
    const { stateDir, ask, request, id } = await answered();
    const folder = join(stateDir, 'approvals/answers');
    const text = readAnswerFile(stateDir, request.hash);
    writeFileSync(join(stateDir, 'elsewhere.json'), text);
    rmSync(join(folder, `${request.hash}.json`));
    symlinkSync(join(stateDir, 'elsewhere.json'), join(folder, `${request.hash}.json`));
    expect(await pendingId(ask())).toBe(id);
    rmSync(join(folder, `${request.hash}.json`), { force: true });
    mkdirSync(join(folder, `${request.hash}.json`));
    expect(await pendingId(ask())).toBe(id);
    mkdirSync(join(folder, `${request.hash}.json`), { recursive: true });
    say(stateDir, id);
    expect(await ask()).toMatchObject({ by: 'mary' });
  });

  it('if it was copied from another request or session', async () => {
    const { stateDir, ask, request } = await answered();
    for (const other of [requestOf({ reason: 'something else' }), requestOf({ sessionId: 's-2' })]) {
      const id = await pendingId(ask(other));
      writeAnswerFile(stateDir, other.hash, readAnswerFile(stateDir, request.hash));
      expect(await pendingId(ask(other))).toBe(id);
    }
    expect(await ask()).toMatchObject({ by: 'mary' });
  });

  it('if it was put back after its use', async () => {
    const { stateDir, ask, request } = await answered();
    const text = readAnswerFile(stateDir, request.hash);
    expect(await ask()).toMatchObject({ by: 'mary' });
    writeAnswerFile(stateDir, request.hash, text);
    const id = await pendingId(ask());
    writeAnswerFile(stateDir, request.hash, text);
    expect(await pendingId(ask())).toBe(id);
    expect(listPendingRequests(stateDir)[0]?.answer).toBeNull();
  });

  it('if it was made with another token', async () => {
    const { stateDir, ask } = world();
    const id = await pendingId(ask());
    say(stateDir, id, 'yes', { token: ensureOperatorToken(stateFolder()) });
    expect(await pendingId(ask())).toBe(id);
    expect(listPendingRequests(stateDir)[0]?.answer).toBeNull();
  });

  it('if the token changed, or others may know it', async () => {
    const { stateDir, ask, id } = await answered();
    writeFileSync(operatorTokenFile(stateDir), ensureOperatorToken(stateFolder()));
    expect(await pendingId(ask())).toBe(id);
    say(stateDir, id);
    chmodSync(operatorTokenFile(stateDir), 0o644);
    expect(await pendingId(ask())).toBe(id);
  });
});

it('files that are not requests are not listed', async () => {
  const { stateDir, ask } = world();
  const id = await pendingId(ask());
  const folder = join(stateDir, 'approvals/pending');
  const real = requestOf({ reason: 'shown' });
  const fake = { version: 1, id: 'aaaaaa', root: '/repo', askedAt: 1, expiresAt: 1e15 };
  for (const [name, text] of [
    ['x.json', '{}'],
    [`${'a'.repeat(64)}.json`, '{}'],
    [`${'b'.repeat(64)}.json`, ''],
    // Shows one thing, and asks for another.
    [`${real.hash}.json`, JSON.stringify({ ...fake, request: { ...real, reason: 'harmless' } })],
    // A file under the name of another request.
    [`${'c'.repeat(64)}.json`, JSON.stringify({ ...fake, request: real })],
  ] as const)
    writeFileSync(join(folder, name), text);
  expect(listPendingRequests(stateDir).map(({ pending }) => pending.id)).toEqual([id]);
  expect(answerFiles(stateDir)).toEqual([]);
});

describe('an approver with a fallback', () => {
  it('records who answered', async () => {
    const stateDir = stateFolder();
    const both = fallbackApprover(approverInAdvance(['deploy']), pendingApprover({ stateDir, root: '/repo' }));
    expect(await both.approve(requestOf())).toEqual({ by: 'operator' });
    expect(both.via).toBe('approver');
    const mode = requestOf({ action: { kind: 'mode', from: 'diagnose', to: 'execute' } });
    const id = await pendingId(both.approve(mode));
    say(stateDir, id);
    expect(await both.approve(mode)).toMatchObject({ by: 'mary' });
    expect(both.via).toBe('operator-token');
  });
});

describe('a question that can be answered in two places', () => {
  it('is settled by the first answer, and ends in the other place', async () => {
    const stateDir = stateFolder();
    const request = requestOf();
    const where = { stateDir, root: '/repo' };
    const away = askHereOrElsewhere(
      'terminal',
      { ...where, onPending: (id) => void say(stateDir, id) },
      (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(false))),
    );
    expect(await away.approve(request)).toMatchObject({ by: 'mary' });
    expect(away.via).toBe('operator-token');

    let shown: RequestAndAnswer | undefined;
    const here = askHereOrElsewhere('terminal', where, async () => {
      shown = listPendingRequests(stateDir)[0];
      return true;
    });
    expect(await here.approve(request)).toEqual({ by: 'operator' });
    expect(here.via).toBe('terminal');
    expect(listPendingRequests(stateDir)).toEqual([]);
    const late = { verdict: 'yes', by: 'mary', minutes: 5 } as const;
    expect(answerIfUnanswered(stateDir, shown!.pending, late, ensureOperatorToken(stateDir))).toBeNull();
    expect(answerFiles(stateDir)).toEqual([]);
  });

  it('ends with the process that asks, even one that is killed', async () => {
    const stateDir = stateFolder();
    const url = new URL('../../src/operator/pending-approver.ts', import.meta.url).href;
    const script = `const { askHereOrElsewhere } = await import(${JSON.stringify(url)});
      const where = { stateDir: ${JSON.stringify(stateDir)}, root: '/repo', onPending: console.log };
      await askHereOrElsewhere('terminal', where, () => new Promise(() => {})).approve(${JSON.stringify(requestOf())});`;
    const asking = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(asking.stdout, 'data');
    const [asked] = listPendingRequests(stateDir);
    expect(asked?.pending.request).toEqual(requestOf());
    asking.kill('SIGKILL');
    await once(asking, 'close');
    expect(listPendingRequests(stateDir)).toEqual([]);
    const yes = { verdict: 'yes', by: 'mary', minutes: 5 } as const;
    expect(answerIfUnanswered(stateDir, asked!.pending, yes, ensureOperatorToken(stateDir))).toBeNull();
    // A process that does not wait makes the same request again, so the request stays.
    const again = await pendingId(pendingApprover({ stateDir, root: '/repo' }).approve(requestOf()));
    expect(again).not.toBe(asked!.pending.id);
    expect(listPendingRequests(stateDir)).toHaveLength(1);
  });

  it('keeps the first of many answers that come at once', async () => {
    const { stateDir, ask } = world();
    await pendingId(ask());
    const [item] = listPendingRequests(stateDir);
    const given = Array.from({ length: 20 }, (_, index) =>
      answerIfUnanswered(
        stateDir,
        item!.pending,
        { verdict: index % 2 === 0 ? 'yes' : 'no', by: `p${index}`, minutes: 5 },
        ensureOperatorToken(stateDir),
      ),
    );
    expect(given.filter((one) => one && 'answer' in one)).toHaveLength(1);
    expect(given.filter((one) => one && 'earlier' in one)).toHaveLength(19);
    expect(await ask()).toMatchObject({ by: 'p0' });
  });
});
