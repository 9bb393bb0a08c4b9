import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

it("leaves vitest out of what is packed: describeSpec takes the vitest that runs the user's tests", () => {
  const out = mkdtempSync(join(tmpdir(), 'hopgate-packed-'));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  execFileSync(process.execPath, ['node_modules/tsdown/dist/run.mjs', '--out-dir', out, '--no-dts'], { stdio: 'pipe' });
  const chunks = readdirSync(out).filter((name) => name.endsWith('.js'));
  const texts = chunks.map((name) => readFileSync(join(out, name), 'utf8'));
  expect(texts.filter((text) => text.includes('await import("vitest")'))).toHaveLength(1);
  expect(texts.join('')).not.toContain('node_modules/@vitest');
});

it('its hook program answers, and what it cannot read it refuses', () => {
  const out = mkdtempSync(join(tmpdir(), 'hopgate-packed-'));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  execFileSync(process.execPath, ['node_modules/tsdown/dist/run.mjs', '--out-dir', out, '--no-dts'], { stdio: 'pipe' });
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(out, 'main.cjs'), 'alone', 'hook', 'claude-code'],
    {
      input: 'no JSON',
      encoding: 'utf8',
      env: { ...process.env, XDG_STATE_HOME: join(out, 'state'), HOPGATE_DAEMON: 'off' },
    },
  );
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('hopgate');
});
