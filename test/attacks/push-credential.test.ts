import fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { openSession } from '../../src/open-session.ts';
import type { Session } from '../../src/session/session.ts';
import type { Json } from '../../src/spec/types.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { isDeep } from '../depth.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { serveRepositories } from '../tools/git/https-server.ts';
import { formsOf, git, makeWorld } from './attacked-machine.ts';

afterEach(() => vi.unstubAllEnvs());

type Call = readonly [tool: string, args: { readonly [name: string]: Json }];

/** Attempts of an agent to get the credential that only a push receives. */
const reach = (token: string, url: string): readonly Call[] => [
  ...[
    'env',
    'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline',
    `cat ${token}`,
    `ls -la ${join(token, '..')}`,
    `git push ${url} main`,
    `git ls-remote ${url}`,
    `printf 'url=${url}\\n\\n' | git credential fill`,
    'git config --list --show-origin; git -c credential.helper= var -l; cat .git/config ~/.gitconfig ~/.netrc',
    'cat <&3; cat <&7; cat <&9; ls -l /proc/self/fd',
  ].flatMap((command): Call[] => [
    ['bash-readonly', { command }],
    ['bash', { command }],
  ]),
  ['read', { path: token }],
  ['grep', { pattern: '.', path: join(token, '..') }],
  ...['push', 'push origin main', `push ${url} main`, 'log', 'branch -vv', 'rev-parse HEAD', 'config --list'].map(
    (sub): Call => ['bash-git', { sub }],
  ),
];

// test/tools/git/push-https.test.ts tries one push in `npm test`.
it.runIf(isDeep)('a push succeeds without showing its credential to an agent or in the evidence', async () => {
  const world = await makeWorld();
  try {
    const [secret, fromEnv] = ['s3cr3tFileToken0123456789', 's3cr3tEnvToken0123456789'];
    const token = join(world.folder, 'token');
    fs.writeFileSync(token, secret, { mode: 0o600 });
    vi.stubEnv('PUSH_TOKEN', fromEnv);
    const kinds = [
      { kind: 'file', path: token, username: 'bot' },
      { kind: 'env', name: 'PUSH_TOKEN', username: 'bot' },
    ] as const;
    for (const credential of kinds) {
      const password = credential.kind === 'file' ? secret : fromEnv;
      const server = await serveRepositories(world.folder, { password });
      const url = `${server.origin}/remote.git`;
      // A remote that repeats the credential of a push in its output.
      fs.mkdirSync(join(world.remote, 'hooks'), { recursive: true });
      fs.writeFileSync(join(world.remote, 'hooks/update'), '#!/bin/sh\necho "$HTTP_AUTHORIZATION" >&2\n', {
        mode: 0o755,
      });
      const store = sqliteStore(world.store);
      const session = await openSession({
        specs: fixtureSpecs,
        root: world.root,
        agent: 'attacker',
        store,
        approver: () => true,
        trustConfig: true,
        config: { git: { remote: 'origin', branch: 'main', url, ca: server.ca, credential } },
      });
      let output = '';
      const attempt = async () => {
        for (const [tool, args] of reach(token, url)) output += JSON.stringify(await session.step({ tool, args }));
      };
      await must(session.start('explore'));
      await must(session.setMode({ to: 'diagnose' }));
      await attempt();
      await must(session.step({ tool: 'read', args: { path: 'src/a.txt' } }));
      await must(session.hop({ to: 'edit', exit: 'found-target', reason: 'to edit' }));
      await must(session.setMode({ to: 'execute', reason: 'to work', exitCriteria: 'done' }));
      await must(session.step({ tool: 'write', args: { path: 'src/new.txt', content: `for ${credential.kind}\n` } }));
      await attempt();
      await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'to test', fruit: { 'commit-message': 'x' } }));
      await must(session.step({ tool: 'bash-test', args: {} }));
      await must(session.hop({ to: 'deploy', exit: 'pass', reason: 'to ship' }));
      await must(session.step({ tool: 'bash-git', args: { sub: 'add src/new.txt' } }));
      await must(session.step({ tool: 'bash-git', args: { sub: 'commit -m x' } }));
      const reached = server.authorizations.length;
      expect(reached, 'nothing but a push in deploy speaks to the remote').toBe(0);
      await attempt();
      await session.detach();
      await store.close();
      expect(git(world.remote, 'rev-parse', 'main')).toBe(git(world.root, 'rev-parse', 'HEAD'));
      expect(output).toContain('[hidden]');
      const evidence = fs
        .readdirSync(world.folder)
        .filter((name) => name.startsWith('evidence.db'))
        .map((name) => fs.readFileSync(join(world.folder, name), 'latin1'))
        .join('');
      expect(evidence).toContain('session-open');
      for (const form of [secret, fromEnv].flatMap(formsOf)) {
        expect(output.includes(form), form).toBe(false);
        expect(evidence.includes(form), form).toBe(false);
      }
    }
  } finally {
    world.close();
  }
});

async function must(
  step: ReturnType<Session['step'] | Session['start'] | Session['hop'] | Session['setMode']>,
): Promise<void> {
  const result = await step;
  if (!result.ok) throw new Error(JSON.stringify(result));
}
