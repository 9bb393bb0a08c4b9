import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findContinuedSessionId } from '../../src/cli/client/continued-session.ts';
import type { Io } from '../../src/cli/io.ts';
import { ConversationFiles, type StoredConversation } from '../../src/daemon/conversation-files.ts';
import { machine } from './run.ts';

const [OLD, NEW, FREE] = [1, 2, 3].map((digit) => `01a208b7-fae2-7800-9213-dddecf5b21f${digit}`) as [
  string,
  string,
  string,
];

test.each([
  ['codex', (id: string) => `sessions/2026/11/23/rollout-2026-11-23T14-03-15-${id}.jsonl`],
  ['claude-code', (id: string) => `projects/a/${id}.jsonl`],
] as const)('the last conversation of %s is found by the name of its transcript', (client, nameOf) => {
  const { root, env } = machine();
  const io = { env } as Io;
  const files = new ConversationFiles(root, env);
  const talk = (id: string, minute: number) => {
    const transcript = join(root, nameOf(id));
    mkdirSync(dirname(transcript), { recursive: true });
    writeFileSync(transcript, '');
    utimesSync(transcript, minute * 60, minute * 60);
    return transcript;
  };
  for (const [id, minute] of [
    [OLD, 2],
    [NEW, 1],
  ] as const)
    files.write({
      conversation: { client, id, agentId: null, root },
      sessionId: `s-${id}`,
      parent: null,
      notes: { transcript: talk(id, minute) },
      events: [],
    } as unknown as StoredConversation);
  expect(findContinuedSessionId(io, root, client, 'last')).toBe(`s-${OLD}`);
  talk(NEW, 3);
  expect(findContinuedSessionId(io, root, client, 'last')).toBe(`s-${NEW}`);
  expect(findContinuedSessionId(io, root, client, { id: OLD })).toBe(`s-${OLD}`);
  talk(FREE, 4); // a conversation that was held without hopgate
  expect(findContinuedSessionId(io, root, client, 'last')).toBeNull();
});
