import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) {
    chmodSync(join(folder, 'home'), 0o700);
    rmSync(folder, { recursive: true });
  }
});

/** A program of two chunks, one of which says a word. */
function program(word: string) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-code-')));
  made.push(base);
  const [folder, home] = [join(base, 'hook'), join(base, 'home')];
  for (const each of [folder, home]) mkdirSync(each);
  const chunk = (says: string): void =>
    writeFileSync(join(folder, 'a.cjs'), `const inner = () => '${says}'; exports.say = () => inner();`);
  writeFileSync(
    join(folder, 'b.cjs'),
    "const a = require('./a.cjs'); exports.isOne = () => require('./b.cjs') === exports && require('./a.cjs') === a;",
  );
  chunk(word);
  const run = (kind = 'k'): string =>
    execFileSync(process.execPath, [join(import.meta.dirname, 'code-cache-driver.ts'), folder, home, kind], {
      encoding: 'utf8',
    });
  const kept = (): string => {
    const [versions = ''] = readdirSync(home);
    return join(home, versions, 'a.cjs', 'a.cjs');
  };
  return { chunk, run, kept, home };
}

describe('the code that is kept for the next hook', () => {
  // V8 looks at a source's length alone: that another text of this length says the first word shows whose code it is.
  it('is what the next one runs', () => {
    const { chunk, run } = program('one');
    expect(run()).toBe('one');
    chunk('two');
    expect(run()).toBe('one');
  });

  it('is compiled anew where it does not fit', () => {
    const { chunk, run } = program('one');
    run();
    chunk('three');
    expect(run()).toBe('three');
  });

  it('is not believed where others could have written it', () => {
    const { chunk, run, kept } = program('one');
    run();
    chunk('two');
    chmodSync(kept(), 0o666);
    expect(run()).toBe('two');
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
  });

  it('is not believed where it is broken', () => {
    const { chunk, run, kept } = program('one');
    run();
    chunk('two');
    for (const broken of ['', 'x', 'x'.repeat(10_000)]) {
      writeFileSync(kept(), broken);
      expect(run(), broken.slice(0, 5)).toBe('two');
    }
  });

  it('is kept once for each kind of work', () => {
    const { run, kept } = program('one');
    run();
    utimesSync(kept(), 1, 1);
    run();
    expect(statSync(kept()).mtimeMs).toBe(1000);
    run('another');
    expect(statSync(kept()).mtimeMs).toBeGreaterThan(1000);
  });

  it('is kept anew where what was kept does not fit', () => {
    const { chunk, run } = program('one');
    run();
    chunk('three');
    run();
    chunk('seven');
    expect(run()).toBe('three');
  });

  it('goes with its build, some time after', () => {
    const { run, kept } = program('one');
    run();
    const [old, young] = ['old', 'young'].map((name) => join(dirname(kept()), '..', name)) as [string, string];
    for (const folder of [old, young]) mkdirSync(folder);
    utimesSync(old, 1, 1);
    run('another');
    expect([existsSync(old), existsSync(young), existsSync(kept())]).toEqual([false, true, true]);
  });

  it('is none where it cannot be kept', () => {
    const { run, home } = program('one');
    rmSync(home, { recursive: true });
    writeFileSync(home, 'no folder');
    expect(run()).toBe('one');
    expect(run()).toBe('one');
  });
});
