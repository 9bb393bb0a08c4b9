import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolReport } from '../../../src/ports/tool-backend.ts';
import {
  AnchorMovedError,
  type Anchors,
  descriptorAnchors,
  realPathAnchors,
} from '../../../src/tools/workspace/anchors.ts';
import { runEditTool } from '../../../src/tools/workspace/edit-tool.ts';
import { runGlobTool } from '../../../src/tools/workspace/glob-tool.ts';
import { runGrepTool } from '../../../src/tools/workspace/grep-tool.ts';
import { runReadTool } from '../../../src/tools/workspace/read-tool.ts';
import type { ToolStop } from '../../../src/tools/workspace/tool-stop.ts';
import { runWriteTool } from '../../../src/tools/workspace/write-tool.ts';
import { freshWorld } from './root-with-sentinels.ts';

/** The duration of the random swaps, in milliseconds. */
const STORM = Number(process.env['HOPGATE_RACE_MS'] ?? 1000);

const CALLS = [
  ['read', { path: 'src/d/a.ts' }, runReadTool],
  ['glob', { pattern: '**', path: 'src/d' }, runGlobTool],
  ['grep', { pattern: '.', path: 'src/d' }, runGrepTool],
  ['grep', { pattern: '.' }, runGrepTool],
  ['edit', { path: 'src/d/a.ts', old: 'inside', new: 'inside!' }, runEditTool],
  ['write', { path: 'src/d/new/x.ts', content: 'written' }, runWriteTool],
  ['write', { path: 'src/d/a.ts', content: 'written' }, runWriteTool],
] as const;

describe.runIf(process.platform === 'linux')('a tree that changes during a tool call', () => {
  const world = freshWorld();
  const src = (name: string) => path.join(world().root, 'src', name);
  const prepare = () => {
    world().make({ 'root/src/d/a.ts': 'inside\n', 'beside/a.ts': 'OUTSIDE inside\n' });
    world().link('root/src/evil', '../../beside');
  };
  const swap = () => {
    fs.renameSync(src('d'), src('was'));
    fs.renameSync(src('evil'), src('d'));
  };

  it.each(CALLS)(
    'leads %s %j to no file outside the root, at whichever step a folder is swapped',
    async (_id, args, tool) => {
      for (let step = 1; ; step++) {
        fs.rmSync(world().root, { recursive: true });
        prepare();
        const before = world().outside();
        let steps = 0;
        const swapping: Anchors = {
          root: descriptorAnchors.root,
          child(folder, name) {
            const found = descriptorAnchors.child(folder, name);
            if (++steps === step) swap();
            return found;
          },
        };
        const report = await attempt(() => tool(world().call(_id, args), swapping));
        expect(JSON.stringify(report), `swapped at step ${step}`).not.toContain('OUTSIDE');
        expect(world().outside(), `swapped at step ${step}`).toBe(before);
        expect(world().leftovers()).toEqual([]);
        if (steps < step) break;
        expect(step).toBeLessThan(100);
      }
    },
  );

  it('makes grep drop lines that ripgrep read in another file', async () => {
    prepare();
    let swapped = false;
    const swapBeforeSearch: Anchors = {
      root: descriptorAnchors.root,
      child(folder, name) {
        const found = descriptorAnchors.child(folder, name);
        if (name === 'src' && !swapped) {
          // ripgrep is about to walk by name: `src/d` now leads outside the root
          fs.writeFileSync(src('late.ts'), 'inside\n');
          swapped = true;
          swap();
        }
        return found;
      },
    };
    const report = await runGrepTool(world().call('grep', { pattern: 'inside', path: 'src' }), swapBeforeSearch);
    expect(report).toMatchObject({ outcome: { result: { files: ['src/late.ts', 'src/was/a.ts'] } } });
  });

  /** Calls `meddle` after the search has run and before its first hit is verified. */
  const afterSearch = (meddle: () => void): Anchors => {
    let walks = 0;
    return {
      root(at) {
        if (++walks === 2) meddle();
        return descriptorAnchors.root(at);
      },
      child: descriptorAnchors.child,
    };
  };
  const matches = (anchors: Anchors) =>
    runGrepTool(world().call('grep', { pattern: 'inside', path: 'src/d' }), anchors);

  it('makes grep drop lines that the file no longer has at the offset of the match', async () => {
    prepare();
    expect(await matches(descriptorAnchors)).toMatchObject({ outcome: { result: { matches: [{ text: 'inside' }] } } });
    const rewrite = afterSearch(() => fs.writeFileSync(src('d/a.ts'), 'changed\n'));
    expect(await matches(rewrite)).toMatchObject({ outcome: { result: { matches: [] } } });
  });

  it('makes grep and glob drop names that now lead to masked files', async () => {
    for (const [tool, args] of [
      [runGrepTool, { pattern: 'inside', path: 'src' }],
      [runGlobTool, { pattern: 'd/*', path: 'src' }],
    ] as const) {
      fs.rmSync(world().root, { recursive: true });
      prepare();
      world().make({ 'root/secrets/a.ts': 'inside\n' });
      const relink = afterSearch(() => {
        fs.rmSync(src('d'), { recursive: true });
        fs.symlinkSync('../secrets', src('d'));
      });
      expect(JSON.stringify(await tool(world().call('grep', args), relink))).not.toContain('src/d');
    }
  });

  it('is not followed through a link that replaces a new folder', () => {
    prepare();
    const before = world().outside();
    const relink: Anchors = {
      root: descriptorAnchors.root,
      child(folder, name) {
        if (name === 'new' && fs.existsSync(src('d/new'))) {
          fs.rmdirSync(src('d/new'));
          fs.symlinkSync('../../../beside', src('d/new'));
        }
        return descriptorAnchors.child(folder, name);
      },
    };
    expect(() => runWriteTool(world().call('write', { path: 'src/d/new/deep/x.ts', content: 'x' }), relink)).toThrow(
      AnchorMovedError,
    );
    expect(world().outside()).toBe(before);
  });

  it('without /proc, a file that was replaced after its check is not opened', () => {
    prepare();
    const root = realPathAnchors.root(world().root);
    const d = realPathAnchors.child(realPathAnchors.child(root, 'src')!, 'd')!;
    const file = realPathAnchors.child(d, 'a.ts')!;
    fs.writeFileSync(src('new.ts'), 'other\n');
    fs.renameSync(src('new.ts'), src('d/a.ts'));
    expect(() => file.open(fs.constants.O_RDONLY)).toThrow(AnchorMovedError);
    swap();
    expect(() => d.check()).toThrow(AnchorMovedError);
  });

  it('keeps the change of another program from being overwritten by an edit', () => {
    prepare();
    const meddling: Anchors = {
      root: descriptorAnchors.root,
      child(folder, name) {
        const found = descriptorAnchors.child(folder, name);
        if (!found || name !== 'a.ts') return found;
        const open = (flags: number) => {
          const fd = found.open(flags);
          fs.renameSync(src('new.ts'), src('d/a.ts'));
          return fd;
        };
        return { ...found, open };
      },
    };
    fs.writeFileSync(src('new.ts'), 'theirs\n');
    expect(() =>
      runEditTool(world().call('edit', { path: 'src/d/a.ts', old: 'inside', new: 'mine' }), meddling),
    ).toThrow(AnchorMovedError);
    expect(world().text('root/src/d/a.ts')).toBe('theirs\n');
    expect(world().leftovers()).toEqual([]);
  });

  it('never leads outside the root, by many random swaps', {
    timeout: STORM + 20_000,
  }, async () => {
    prepare();
    const before = world().outside();
    const storm = spawn(process.execPath, ['-e', STORM_SCRIPT, src('')], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(storm, 'exit');
    await once(storm.stdout, 'data');
    try {
      const until = performance.now() + STORM;
      for (let round = 0; performance.now() < until; round++) {
        const searching = round % 50 === 0;
        for (const [id, args] of CALLS) {
          if (!searching && (id === 'glob' || id === 'grep')) continue;
          const { outcome } = await world().run(id, args);
          expect(JSON.stringify(outcome)).not.toContain('OUTSIDE');
        }
      }
    } finally {
      expect(storm.exitCode, 'the storm blew to the end').toBeNull();
      storm.kill('SIGKILL');
      await ended;
    }
    expect(world().outside()).toBe(before);
    expect(world().leftovers()).toEqual([]);
  });
});

// a writer may create `d` while it is missing; then the swaps remove it and continue
const STORM_SCRIPT = `
  const fs = require('node:fs');
  process.chdir(process.argv[1]);
  console.log('ready');
  const isLink = (name) => fs.lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink();
  for (;;) {
    try {
      fs.renameSync('d', 'was'); fs.renameSync('evil', 'd');
      fs.renameSync('d', 'evil'); fs.renameSync('was', 'd');
    } catch {
      try {
        if (isLink('d')) fs.unlinkSync('d');
        if (fs.existsSync('was')) { fs.rmSync('d', { recursive: true, force: true }); fs.renameSync('was', 'd'); }
        if (!isLink('evil')) fs.symlinkSync('../../beside', 'evil');
      } catch {}
    }
  }`;

/** Returns the error of the file system as an answer, as the backend does. */
async function attempt(run: () => ToolReport | ToolStop | Promise<ToolReport | ToolStop>): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AnchorMovedError || (error as NodeJS.ErrnoException).code) return (error as Error).message;
    throw error;
  }
}
