import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import { openSession } from '../../src/open-session.ts';
import type { ApprovalRequest } from '../../src/ports/approver.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { sha256Hex } from '../../src/tools/content-effect.ts';
import { CONFIG, specsOf } from '../session/sessions.ts';

const specs = specsOf({
  'tools.yaml': `tools:
  mail:
    purpose: Sends a mail.
    effect: act
    parameters:
      - { name: to, role: text, description: The recipient. }
      - { name: attach, role: path:read, description: Files., schema: { type: [string, array] } }
      - { name: log, role: path:write, description: A copy., optional: true }
    limits: { seconds: 5, output-bytes: 100 }
    gates: [{ approval: operator }]
`,
  'scopes.yaml': 'scopes:\n  desk: { read: root, write: [.], command: none, url: none }\n',
  'peripherals/desk.yaml':
    'id: desk\npurpose: Answer mails.\ntools: [mail]\nscope: desk\nentry: [default]\nexit: [done]\n',
});

it('the approval of a call shows and binds the content of the files that it names', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-named-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const put = (text: string) => writeFileSync(join(root, 'a.txt'), text);
  mkdirSync(join(root, 'folder'));
  symlinkSync('a.txt', join(root, 'link'));
  put('as shown');
  const asked: ApprovalRequest[] = [];
  let meanwhile = () => {};
  const sent: unknown[] = [];
  const store = memoryStore();
  const session = await openSession({
    specs,
    root,
    store,
    agent: 'clerk',
    config: CONFIG,
    backends: [
      {
        name: 'post',
        tools: ['mail'],
        run: async ({ args }) => {
          sent.push(args['attach']);
          return { outcome: { status: 'ok', result: null }, effects: 'unobserved' };
        },
      },
    ],
    approver: {
      via: 'approver',
      approve: async (request) => {
        asked.push(request);
        meanwhile();
        return { by: 'ann' };
      },
    },
  });
  onTestFinished(() => session.detach());
  await session.start('desk');
  const mail = async (attach: unknown) => {
    const result = await session.step({ tool: 'mail', args: { to: 'bob', attach } });
    return result.ok ? result.outcome : result.denial.code;
  };
  expect(await mail(['link', 'folder', 'missing'])).toBe('ok');
  expect(asked[0]!.view).toMatchObject({ files: { 'a.txt': sha256Hex('as shown'), folder: 'folder', missing: null } });
  const wanted = await session.wants({ step: { tool: 'mail', args: ['bob', 'link'] } });
  meanwhile = () => put('changed after it was shown');
  expect(await mail('link')).toBe('approval-invalid');
  expect(asked[1]!.hash).toBe(wanted!.hash);
  meanwhile = () => {};
  expect(await mail('link')).toBe('ok');
  expect(sent).toEqual([['link', 'folder', 'missing'], 'link']);
  linkSync(join(root, 'a.txt'), join(root, 'second-name'));
  const linked = await session.step({ tool: 'mail', args: ['bob', 'folder', 'second-name'] });
  expect(linked).toMatchObject({ denial: { code: 'out-of-scope', message: expect.stringContaining('hard links') } });
  expect(sent).toHaveLength(2);
  const { violations } = await verifyConstraints({ specs, config: CONFIG }, store.entries(session.id));
  expect(violations).toEqual([]);
});
