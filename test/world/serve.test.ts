import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { serveWorld, type WorldServer } from '../../src/world/serve/world-server.ts';
import { isDeep } from '../depth.ts';

let server: WorldServer;
beforeEach(async () => {
  server = await serveWorld({ choice: { seed: 1 }, port: 0, idle: 400 });
});
afterEach(() => server.close());

const call = async (method: string, path: string, body?: string) => {
  const response = await fetch(new URL(path, server.address), { method, ...(body === undefined ? {} : { body }) });
  return [response.status, (await response.json()) as { readonly [key: string]: unknown }] as const;
};

it.each<readonly [method: string, path: string, body: string | undefined, status: number, answer: object]>([
  ['GET', '/state', undefined, 200, { observation: '', task: '', step: 0, done: false, admissible_commands: [] }],
  ['POST', '/step', '{"action":"look"}', 400, { error: 'No game running. POST /reset first.' }],
  [
    'POST',
    '/reset',
    undefined,
    200,
    { step: 0, gamefile: 'seed:1', problem_dir: 'seed:1', won: false, score: 0, max_score: 1 },
  ],
  ['POST', '/reset', '{"seed":9}', 200, { gamefile: 'seed:9' }],
  ['POST', '/reset', '{"gamefile":"seed:7,task:pick_two_obj_and_place"}', 200, { task_type: 'pick_two_obj_and_place' }],
  ['POST', '/reset', '{"seed":"x"}', 400, { error: 'seed must be an integer' }],
  ['POST', '/reset', '{"gamefile":"/etc/passwd"}', 400, { error: 'gamefile not found: /etc/passwd' }],
  ['POST', '/reset', '{"problem_dir":"x"}', 500, { error: 'no game is named "x"', problem_dir: 'x' }],
  ['POST', '/reset', '{', 400, { error: 'the body is not a JSON object' }],
  ['POST', '/step', '{"action":5}', 400, { error: 'action must be a text' }],
  ['GET', '/nowhere', undefined, 404, { error: 'Unknown: /nowhere' }],
  ['GET', '/health', undefined, 200, { status: 'healthy' }],
  ['POST', '/openenv/step', '{"action":{"command":"look"}}', 200, { done: false, reward: 0 }],
  ['POST', '/openenv/step', '{"action":{"comand":"look"}}', 422, { detail: { code: 'VALIDATION_ERROR' } }],
  ['POST', '/openenv/reset', '{"seed":4}', 200, { reward: null, observation: { gamefile: 'seed:4' } }],
])('the server of games answers %s %s with the body %s', async (method, path, body, status, answer) => {
  const [given, content] = await call(method, path, body);
  expect([given, content]).toEqual([status, expect.objectContaining(nested(answer))]);
});

const nested = (value: object): object =>
  Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      item !== null && typeof item === 'object' && !Array.isArray(item) ? expect.objectContaining(item) : item,
    ]),
  );

it.runIf(isDeep)(
  'a step without an action plays "look", and a finished game refuses a step and answers with its state',
  async () => {
    await call('POST', '/reset', '{"seed":3}');
    expect((await call('POST', '/step', '{}'))[1].observation).toMatch(/^You are in the middle of a room/);
    for (let i = 1; i < 100; i++) await call('POST', '/step', '{"action":"x"}');
    expect(await call('POST', '/step', '{"action":"look"}')).toEqual([
      400,
      expect.objectContaining({ error: 'Game is over. POST /reset for a new one.', step: 100, done: true, won: false }),
    ]);
  },
);

it('a reset without a seed takes the next seed', async () => {
  for (const seed of [1, 2, 3]) expect((await call('POST', '/reset', '{}'))[1].gamefile).toBe(`seed:${seed}`);
});

it('the server of games refuses foreign host names and origins', async () => {
  const answerFor = (headers: { readonly [name: string]: string }) =>
    new Promise<string>((resolve, reject) => {
      request(new URL('/state', server.address), { headers }, async (response) =>
        resolve(`${response.statusCode} ${await text(response)}`),
      )
        .on('error', reject)
        .end();
    });
  const refused = /^403 .*this server is not evil\.example;/;
  expect(await answerFor({ host: 'evil.example' })).toMatch(refused);
  expect(await answerFor({ origin: 'http://evil.example' })).toMatch(refused);
  expect(await answerFor({})).toMatch(/^200 /);
});

it('the server of games refuses a large body', async () => {
  expect((await call('POST', '/step', JSON.stringify({ action: 'x'.repeat(100_000) })))[0]).toBe(413);
});

it('the server of games ends after POST /quit', async () => {
  expect(await call('POST', '/quit')).toEqual([200, { message: 'the server ends' }]);
  await server.ended;
});

it('the server of games answers OpenEnv messages, with one game for each connection, and ends idle connections', async () => {
  const socket = new WebSocket(`${server.address.replace('http', 'ws')}/ws`);
  await new Promise((resolve) => socket.once('open', resolve));
  const ask = (message: string) =>
    new Promise<{ type: string; data: { [key: string]: unknown } }>((resolve) => {
      socket.once('message', (text: Buffer) => resolve(JSON.parse(text.toString())));
      socket.send(message);
    });
  expect(await ask('{')).toMatchObject({ type: 'error', data: { code: 'INVALID_JSON' } });
  expect(await ask('{"type":"fly"}')).toMatchObject({ type: 'error', data: { code: 'UNKNOWN_TYPE' } });
  expect(await ask('{"type":"reset","data":{"seed":-1}}')).toMatchObject({ data: { code: 'VALIDATION_ERROR' } });
  expect(await ask('{"type":"reset","data":{"seed":5,"episode_id":"mine"}}')).toMatchObject({
    type: 'observation',
    data: { reward: null, done: false, observation: { gamefile: 'seed:5' } },
  });
  expect(await ask('{"type":"step","data":{"command":"look","metadata":{}}}')).toMatchObject({
    type: 'observation',
    data: { reward: 0, observation: { text: expect.stringMatching(/^You are in the middle/) } },
  });
  expect(await ask('{"type":"state"}')).toEqual({ type: 'state', data: { episode_id: 'seed:5', step_count: 1 } });
  // The HTTP clients play a separate game.
  expect((await call('GET', '/state'))[1].step).toBe(0);
  await new Promise((resolve) => socket.once('close', resolve));
});

it('the server of games ends a connection whose message it cannot answer, and continues', async () => {
  const socket = new WebSocket(`${server.address.replace('http', 'ws')}/ws`);
  socket.on('open', () => socket.send(`{"type":${'['.repeat(30_000)}${']'.repeat(30_000)}}`));
  expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(1011);
  expect((await call('GET', '/state'))[0]).toBe(200);
});
