import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLAUDE_BIN, ClaudeWorld, call } from './claude-world.ts';
import type { Step, Turn } from './messages-server.ts';

let world: ClaudeWorld;
beforeEach(() => {
  world = new ClaudeWorld();
});
afterEach(() => world.close());

describe.skipIf(!CLAUDE_BIN)('Claude Code in hopgate', () => {
  it('gets a bell once, in its next request, also in the middle of a turn', async () => {
    const bell = (text: string) => world.hopgate('bell', 'agent:claude-code', text, '--root', world.root);
    const read = call('Read', { file_path: world.path('src/a.js') }) as Turn;
    const script: Step[] = [
      async () => {
        expect(await bell('first')).toMatchObject({ code: 0 });
        return read;
      },
      async () => {
        expect(await bell('second')).toMatchObject({ code: 0 });
        return read;
      },
      { text: 'done' },
      { text: 'done' },
    ];
    const run = await world.run(script);
    const shown = run.requests.map(({ texts, results }) =>
      [...texts, ...results.map(({ text }) => text)].join('\n').match(/\[bell \d+ from person operator[^\n]*\]/g),
    );
    expect(shown.slice(0, 3)).toEqual([null, [expect.stringContaining('bell 1')], [expect.stringContaining('bell 2')]]);
    expect((await world.hopgate('verify', run.session, '--root', world.root)).code).toBe(0);
    expect(await world.evidence(run.session)).toContain('receipt');
  });

  it('gets a note that the operator wrote over HTTP once, with the hook after its next call', async () => {
    const address = Promise.withResolvers<{ readonly at: string; readonly operator: string }>();
    const server = spawn(process.execPath, [resolve('src/cli/main.ts'), 'serve', '--port', '0', '--json'], {
      env: world.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let out = '';
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (!out.trimEnd().endsWith('}')) return;
      const { address: at, tokens } = JSON.parse(out);
      address.resolve({ at, operator: readFileSync(tokens.operator, 'utf8').trim() });
    });
    try {
      const { at, operator } = await address.promise;
      const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/json' };
      const note = async (text: string) => {
        const { sessions } = (await (await fetch(`${at}/v1/sessions?open=true`, { headers })).json()) as {
          sessions: { session: string }[];
        };
        const body = JSON.stringify({ text });
        return fetch(`${at}/v1/sessions/${sessions[0]!.session}/note`, { method: 'POST', headers, body });
      };
      const read = call('Read', { file_path: world.path('src/a.js') }) as Turn;
      const script: Step[] = [
        read,
        async () => {
          expect((await note('Leave the cart alone.')).status).toBe(200);
          return read;
        },
        read,
        { text: 'done' },
        { text: 'done' },
      ];
      const run = await world.run(script);
      const shown = run.requests.map(({ texts, results }) =>
        [...texts, ...results.map(({ text }) => text)].join('\n').includes('Leave the cart alone.'),
      );
      expect(shown.slice(0, 2)).toEqual([false, false]);
      expect(shown.slice(2).filter(Boolean)).toHaveLength(1);
    } finally {
      server.kill('SIGTERM');
      await once(server, 'close');
    }
  });
});
