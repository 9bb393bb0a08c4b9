import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isPathWithin } from '../../src/base/paths.ts';
import { ensureOperatorToken, operatorTokenFile } from '../../src/operator/operator-token.ts';
import { pendingApprover } from '../../src/operator/pending-approver.ts';
import { stateDir } from '../../src/project/state-dir.ts';
import { makeEditLayout, makeReadOnlyLayout, makeTestLayout } from '../../src/tools/sandbox/mounts/tool-layouts.ts';
import { sample } from '../depth.ts';
import { ok, scratch } from '../tools/shell/support.ts';
import { requestOf, stateFolder } from './support.ts';

/** A repository, and its state folder at the usual place, with a token and a request. */
async function world() {
  const root = scratch({ 'src/a.txt': 'a', 'deploy.sh': '' });
  const dir = stateDir(root, { XDG_STATE_HOME: stateFolder() });
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  await pendingApprover({ stateDir: dir, root }).approve(requestOf());
  return { root, dir, token: ensureOperatorToken(dir) };
}

describe('the operator’s token and key', () => {
  it.each(sample(['bash', 'bash-readonly', 'bash-test', 'bash-deploy'], 4))('cannot be read in %s', async (tool) => {
    const { root, dir, token } = await world();
    const look = [
      'ls src',
      `cat ${operatorTokenFile(dir)}`,
      `ls ${dir}`,
      `mkdir -p ${dir}/approvals/answers && echo '{}' > ${dir}/approvals/answers/x.json && echo wrote`,
      `grep -rs hopgate-operator- /home /root /tmp /var /run /opt /proc/self/environ /proc/self/mountinfo`,
    ].join('; ');
    const run = ['bash', '-c', look];
    const [args, config] = (
      {
        'bash-test': [{}, { test: [{ run, report: 'none' }] }],
        'bash-deploy': [{ name: 'look' }, { deploy: { look: { run, network: false } } }],
      } as const
    )[tool] ?? [{ command: look }, {}];
    const { result } = await ok(root, tool, args, { config: config as never });
    const seen = JSON.stringify(result);
    expect(result.stdout).toContain('a.txt'); // the command did run
    expect(seen).not.toContain(token);
    expect(seen).not.toContain('approvals\\n');
    expect(existsSync(join(dir, 'approvals/answers/x.json'))).toBe(false);
  });

  it.each([
    ['read-only', makeReadOnlyLayout],
    ['edit', makeEditLayout],
    ['test', makeTestLayout],
  ])('are in no default folder that the %s layout mounts', (_name, layout) => {
    const root = scratch();
    const dir = stateDir(root, { HOME: homedir() });
    const { mounts } = layout({ root, masks: [] });
    const sources = mounts.flatMap((mount) => ('source' in mount ? [mount.source] : []));
    expect(sources).toContain(root);
    expect(sources.filter((source) => isPathWithin(source, dir) || isPathWithin(dir, source))).toEqual([]);
  });
});

it('a token file that others could have read is refused', async () => {
  const { dir } = await world();
  chmodSync(operatorTokenFile(dir), 0o644);
  expect(() => ensureOperatorToken(dir)).toThrow(/can be read by other users/);
});

it('a toolchain that contains the state folder is refused', () => {
  const home = stateFolder();
  vi.stubEnv('XDG_STATE_HOME', join(home, 'state'));
  onTestFinished(() => void vi.unstubAllEnvs());
  mkdirSync(join(home, 'state/hopgate/0123'), { recursive: true });
  mkdirSync(join(home, 'node'));
  const layout = (toolchain: string) => makeReadOnlyLayout({ root: scratch(), masks: [], toolchains: [toolchain] });
  expect(() => layout(home)).toThrow("holds hopgate's own state");
  expect(() => layout(join(home, 'state'))).toThrow("holds hopgate's own state");
  expect(() => layout(join(home, 'state/hopgate/0123'))).toThrow("holds hopgate's own state");
  expect(layout(join(home, 'node')).mounts.length).toBeGreaterThan(0);
});
