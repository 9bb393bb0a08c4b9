import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { descriptorAnchors, realPathAnchors } from '../../../src/tools/workspace/anchors.ts';
import { walkPathBeneath } from '../../../src/tools/workspace/walk-beneath.ts';
import { depth } from '../../depth.ts';
import { makeWorld, type World } from './root-with-sentinels.ts';

const withWorld = async (use: (world: World) => Promise<void>) => {
  const world = makeWorld();
  try {
    await use(world);
  } finally {
    world.remove();
  }
};

describe('any path of an agent', () => {
  const piece = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        'src',
        'docs',
        'a.ts',
        'in',
        'out',
        'up',
        'abs',
        'beside',
        'root',
        'root-evil',
        'src-evil',
        'secret.txt',
        'deep',
      ),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        '..',
        '.',
        '',
        '...',
        '.. ',
        ' ..',
        '..\\..',
        '%2e%2e',
        '~',
        '.git',
        '.env',
        'x\0',
        '\u202e',
        '．．',
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  );
  const argument = (world: World) =>
    fc
      .tuple(
        fc.constantFrom(
          '',
          './',
          'src/',
          'src/in/',
          'src/out/',
          'src/up/',
          `${world.root}/src/`,
          world.root,
          `${world.base}/`,
          '/',
          '../root/',
        ),
        fc.array(piece, { maxLength: 5 }),
      )
      .map(([start, pieces]) => start + pieces.join('/'));

  it('never reads or writes outside the root', async () => {
    await withWorld(async (world) => {
      world.link('root/src/in', '../docs');
      world.link('root/src/out', '../../beside');
      world.link('root/src/up', '..');
      world.link('root/src/abs', path.join(world.base, 'beside'));
      const before = world.outside();
      const entries = fs.readdirSync(world.base).sort();
      const seen = new Set<string>();
      await fc.assert(
        fc.asyncProperty(argument(world), async (given) => {
          for (const [tool, more] of [
            ['read', {}],
            ['write', { content: 'in\n' }],
            ['edit', { old: 'in', new: 'IN' }],
          ] as const) {
            const { outcome, effects } = await world.run(tool, { path: given, ...more });
            expect(JSON.stringify(outcome)).not.toContain('OUTSIDE');
            seen.add(`${tool} ${outcome.status}`);
            if (effects === 'unobserved') throw new Error('the workspace observes');
            expect(effects.length > 0).toBe(outcome.status === 'ok');
            for (const effect of effects) {
              expect(fs.realpathSync(path.join(world.root, effect.path))).toBe(path.join(world.root, effect.path));
              if (tool !== 'read') expect(effect.path).toMatch(/^src\//);
            }
          }
        }),
        {
          numRuns: depth(100, 500),
          examples: [['src/a.ts'], ['src/out/secret.txt'], ['src/up/src/new.ts']],
        },
      );
      // the property proves something only if calls of every kind succeeded
      expect([...seen]).toEqual(
        expect.arrayContaining(['read ok', 'write ok', 'edit ok', 'read refused', 'write refused']),
      );
      expect(world.outside()).toBe(before);
      expect(fs.readdirSync(world.base).sort()).toEqual(entries);
      expect(world.leftovers()).toEqual([]);
    });
  });
});

describe.each([
  ['by descriptor', descriptorAnchors],
  ['by real path', realPathAnchors],
])('a walk in a random tree of links by %s', (_, anchors) => {
  const target = fc.constantFrom(
    '..',
    '../..',
    '../../beside',
    'a',
    'b',
    'c',
    'a/b',
    '../b',
    './c',
    'f',
    '../../root/a',
    'ABS',
    'ABS/b',
    '/etc',
    'f/..',
    'a/../b',
  );
  const node = fc.oneof(fc.constant('folder' as const), fc.constant('file' as const), fc.record({ link: target }));
  const names = ['a', 'b', 'c', 'f'] as const;
  const tree = fc.array(fc.tuple(fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }), node), {
    maxLength: 12,
  });
  const asked = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 });

  it('ends at the same file as the kernel’s walk, or refuses', async () => {
    await withWorld(async (world) => {
      let run = 0;
      fc.assert(
        fc.property(tree, fc.array(asked, { minLength: 1, maxLength: 5 }), (nodes, walks) => {
          const base = path.join(world.base, `t${run++}`);
          const root = path.join(base, 'root');
          fs.mkdirSync(path.join(base, 'beside/b'), { recursive: true });
          fs.mkdirSync(root);
          for (const [at, what] of nodes) plant(root, at, what);
          for (const segments of walks) {
            const place = walkPathBeneath(root, segments, anchors);
            const there = realPath(path.join(root, ...segments));
            const inside = there !== null && (there === root || there.startsWith(`${root}/`));
            if (place.kind === 'file' || place.kind === 'folder') {
              expect(path.join(root, ...place.real)).toBe(there);
              expect(place.anchor.stat.ino).toBe(fs.statSync(there!).ino);
            } else if (inside) {
              // the way there led out of the root and back in
              expect(['leaves', 'dangling']).toContain(place.kind);
            }
            if (there !== null && !inside) expect(place.kind).toBe('leaves');
            if ('close' in place) place.close();
          }
        }),
        { numRuns: depth(60, 300) },
      );
      expect(run).toBeGreaterThan(depth(59, 299));
    });
  });
});

/** Creates the file or link if its path is free. */
function plant(root: string, at: readonly string[], what: 'folder' | 'file' | { readonly link: string }): void {
  const place = path.join(root, ...at);
  try {
    if (fs.realpathSync(path.dirname(place)) !== path.dirname(place)) return;
    if (what === 'folder') fs.mkdirSync(place);
    else if (what === 'file') fs.writeFileSync(place, '', { flag: 'wx' });
    else fs.symlinkSync(what.link.replace('ABS', root), place);
  } catch {
    // the path exists already, or its folder is missing; the tree is then a different random tree
  }
}

function realPath(at: string): string | null {
  try {
    return fs.realpathSync.native(at);
  } catch {
    return null;
  }
}
