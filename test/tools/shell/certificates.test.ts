import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_MASKS } from '../../../src/spec/policy/default-masks.ts';
import { scanTree } from '../../../src/tools/sandbox/mounts/scan-tree.ts';
import { makeReadOnlyLayout } from '../../../src/tools/sandbox/mounts/tool-layouts.ts';
import { watchCoveredFiles } from '../../../src/tools/shell/late-masked-files.ts';
import { CERTIFICATE, KEY } from '../git/certificate.ts';
import { ok, scratch } from './support.ts';

const hidden = (files: { readonly [path: string]: string }, masks: readonly string[] = DEFAULT_MASKS) =>
  scanTree(scratch(files), masks).maskedFiles;

test('a command sees the content of a PEM file with certificates, but a PEM file with a key is empty', async () => {
  const root = scratch({ 'tls/ca.pem': `# My CA\n${CERTIFICATE}${CERTIFICATE}`, 'tls/key.pem': KEY });
  const { result } = await ok(
    root,
    'bash-readonly',
    { command: 'grep -c BEGIN tls/ca.pem; cat tls/key.pem' },
    { config: { mask: DEFAULT_MASKS } },
  );
  expect(result.stdout).toBe('2\n');
});

test.each([
  ['a key next to a certificate', CERTIFICATE + KEY],
  ['a block that is not a certificate', CERTIFICATE.replace(/MIIB[\s\S]*?\n/, 'c2VjcmV0\n')],
  ['a block that is cut', CERTIFICATE.slice(0, -30)],
  ['a key in a comment', `PRIVATE ${CERTIFICATE}`],
  ['a token between the blocks', `token: abc\n${CERTIFICATE}`],
  ['no block', 'x'],
])('a PEM file with %s stays hidden', (_, text) => expect(hidden({ 'a.pem': text })).toEqual(['a.pem']));

test('a mask of the operator hides a certificate', () => {
  expect(hidden({ 'a.pem': CERTIFICATE }, [...DEFAULT_MASKS, 'a.pem'])).toEqual(['a.pem']);
  expect(hidden({ 'a.pem': CERTIFICATE }, ['*.pem'])).toEqual(['a.pem']);
});

test('a certificate that becomes a key while a command runs is noticed', () => {
  const root = scratch({ 'a.pem': CERTIFICATE });
  const scan = scanTree(root, DEFAULT_MASKS);
  const check = watchCoveredFiles(
    { root, masks: DEFAULT_MASKS, scan },
    makeReadOnlyLayout({ root, masks: DEFAULT_MASKS, scan }),
  );
  check();
  writeFileSync(join(root, 'a.pem'), KEY);
  expect(check).toThrow(/a\.pem is masked, and was replaced/);
});
