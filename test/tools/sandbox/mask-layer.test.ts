import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LayoutError } from '../../../src/tools/sandbox/layout-error.ts';
import { makeMaskLayer } from '../../../src/tools/sandbox/mounts/mask-layer.ts';
import { scratch } from '../shell/support.ts';

const FILES = ['src/.env', 'src/deep/.env'].map((path) => ({ path, text: '' }));
const tree = () => scratch({ 'src/.env': 'SECRET', 'src/deep/.env': 'SECRET' });

it('the layer over masked files is made once, and again after another such file appears', () => {
  const root = tree();
  const layer = makeMaskLayer(root, FILES);
  expect(makeMaskLayer(root, FILES)).toBe(layer);
  expect(makeMaskLayer(root, FILES.slice(1))).not.toBe(layer);
  expect(readFileSync(join(layer, 'src/deep/.env'), 'utf8')).toBe('');
});

it('an unfinished layer is not used later', () => {
  const root = tree();
  const files = [...FILES, { path: 'n'.repeat(300), text: '' }, { path: 'src/.netrc', text: '' }];
  for (let i = 0; i < 2; i++) expect(() => makeMaskLayer(root, files)).toThrow(LayoutError);
});

it.each(['src/deep/.env', 'src', '.'])('a layer without its %s is made again', (path) => {
  const root = tree();
  rmSync(join(makeMaskLayer(root, FILES), path), { recursive: true });
  expect(readFileSync(join(makeMaskLayer(root, FILES), 'src/deep/.env'), 'utf8')).toBe('');
  expect(makeMaskLayer(root, FILES)).toBe(makeMaskLayer(root, FILES));
});
