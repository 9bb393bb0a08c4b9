import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentAnswer, AgentSession } from '../../../src/adapters/core/agent-session.ts';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { renderMessagesForAgent } from '../../../src/adapters/core/turn-messages.ts';
import { LongAnswerParts } from '../../../src/adapters/mcp/long-answers.ts';
import { agentWorld } from '../../contracts/agent-world.ts';
import { call, connected, ERAS, hostOf } from './client.ts';

/** The call for the next part, as the text before it gives it; null in the last part. */
const nextIn = (text: string) => {
  const json = /; the next: status (\{.*\})\)/.exec(text)?.[1];
  return json === undefined ? null : (JSON.parse(json) as { part: string });
};
const withoutRemark = (text: string): string => text.replace(/\n\(part \d+ of \d+.*\)$/, '');

it.each(ERAS)('a model reads an answer of any length in parts, in any peripheral (%s)', async (era) => {
  const world = await agentWorld('explore');
  const lines = Array.from({ length: 400 }, (_, index) => `línea ${index}`);
  writeFileSync(join(world.root, 'README.md'), `${lines.join('\n')}\n`);
  const session = await world.open();
  const client = await connected(hostOf(agentSession(session), { answerBytes: 2000 }), { era });
  let { text } = await call(client, 'read', { path: 'README.md' });
  const parts = [text];
  await call(client, 'hop', { to: 'chat', reason: 'reads on from there' });
  for (let next = nextIn(text); next !== null; next = nextIn(text)) {
    ({ text } = await call(client, 'status', next));
    parts.push(text);
  }
  expect(parts.length).toBeGreaterThan(3);
  for (const part of parts) expect(Buffer.byteLength(part)).toBeLessThan(2200);
  const whole = parts.map(withoutRemark).join('');
  expect(whole).toBe(lines.map((line, index) => `${String(index + 1).padStart(6)}\t${line}`).join('\n'));
  expect((await call(client, 'status', { part: 'dead/2' })).text).toContain('no part "dead/2"');
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === 'status')?.inputSchema.properties).toHaveProperty('part');
});

it('a long answer of an upstream server comes in parts, together with its images', async () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
  const data = { content: [{ type: 'text', text: 'x'.repeat(3000) }, image] };
  const world = await agentWorld('explore');
  const real = agentSession(await world.open());
  const session: AgentSession = {
    ...real,
    call: async () => ({ status: 'ok', text: 'x'.repeat(3000), data, denial: null, toolsChanged: false }),
  };
  const client = await connected(hostOf(session, { answerBytes: 2000 }));
  const { result, text } = await call(client, 'read', { path: 'README.md' });
  expect(result.content).toContainEqual(image);
  expect(text).toMatch(/^x{2000}\n\(part 1 of 2 /);
});

const answer = (text: string, messages: AgentAnswer['messages'] = []): AgentAnswer => ({
  status: 'ok',
  text,
  data: {},
  denial: null,
  toolsChanged: false,
  messages,
});

it('the parts of an answer contain each character once and fit the limit', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'é', '漢', '😀', '\n'), maxLength: 400 }), (text) => {
      const long = new LongAnswerParts(40);
      const first = long.firstPart(answer(text));
      if (first === null) return Buffer.byteLength(text) <= 40;
      const parts = [first];
      for (let next = nextIn(first); next !== null; next = nextIn(parts.at(-1)!))
        parts.push(long.requestedPart({ name: 'status', input: next }) ?? '');
      const texts = parts.map(withoutRemark);
      return texts.join('') === text && texts.every((part) => Buffer.byteLength(part) <= 40);
    }),
  );
});

it('new messages come with the first part of a long answer', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const message = { id: 'm-1', from: 'session:s-1', to: 'session:s-2', author: 's-1', kind: 'tell', text: 'hello', at };
  const messages = [message] as unknown as NonNullable<AgentAnswer['messages']>;
  const text = `${'x'.repeat(100)}\n${renderMessagesForAgent(messages)}`;
  const long = new LongAnswerParts(60);
  const first = long.firstPart(answer(text, messages)) ?? '';
  expect(first).toContain('hello');
  expect(long.requestedPart({ name: 'status', input: nextIn(first) })).toBe(
    `${'x'.repeat(40)}\n(part 2 of 2, the last)`,
  );
});

it('a client without a limit gets a long answer whole', () => {
  const long = new LongAnswerParts(Number.POSITIVE_INFINITY);
  expect(long.firstPart(answer('x'.repeat(1e6)))).toBeNull();
});
