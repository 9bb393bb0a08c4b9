import { existsSync, lutimesSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makeFixtureRepository } from '../../src/cli/run/fixture.ts';

it('a run removes the fixtures of earlier runs after a day, and nothing else', () => {
  const temp = mkdtempSync(join(tmpdir(), 'temp-'));
  vi.stubEnv('TMPDIR', temp);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(temp, { recursive: true });
  });
  const make = (name: string, parts: readonly string[], hours: number) => {
    for (const part of parts) mkdirSync(join(temp, name, part), { recursive: true });
    const time = Date.now() / 1000 - 3600 * hours;
    utimesSync(join(temp, name), time, time);
    return join(temp, name);
  };
  const old = make('hopgate-aB3dE6', ['repository', 'remote.git'], 25);
  const kept = [
    make('hopgate-young1', ['repository', 'remote.git'], 23),
    make('hopgate-other2', ['repository'], 25),
    make('someones-work', ['repository', 'remote.git'], 25),
  ];
  // No process can examine what is in a link to itself, as no user can in another user's folder.
  symlinkSync('hopgate-closed', join(temp, 'hopgate-closed'));
  lutimesSync(join(temp, 'hopgate-closed'), 0, 0);
  const { root } = makeFixtureRepository('bug-in-median');
  expect(existsSync(old)).toBe(false);
  expect(kept.filter(existsSync)).toEqual(kept);
  expect(existsSync(join(root, 'src/median.js'))).toBe(true);
});
