import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { transcriptTo } from '../../../src/adapters/core/transcript/transcript-file.ts';
import { assistantMessageItem } from '../../../src/adapters/core/transcript/transcript-items.ts';
import { parseTranscript } from '../../../src/evidence/transcript.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopgate-transcript-'));
  file = join(folder, 'transcripts', 's.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const counts = () => parseTranscript(readFileSync(file, 'utf8')).items.map(({ n }) => n);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

it('a transcript’s numbering continues after another writer’s items', () => {
  const [one, other] = [transcriptTo(file), transcriptTo(file)];
  one.add(assistantMessageItem('a'));
  one.add();
  other.add(assistantMessageItem('b'), assistantMessageItem('c'));
  one.add(assistantMessageItem('d'));
  other.add(assistantMessageItem('e'));
  expect(counts()).toEqual(upTo(5));
});

it('a transcript starts at zero again after its file was erased', () => {
  const one = transcriptTo(file);
  one.add(assistantMessageItem('a'), assistantMessageItem('b'));
  writeFileSync(file, '');
  one.add(assistantMessageItem('c'));
  expect(counts()).toEqual([0]);
});

it('items of parallel processes are numbered once each and in order', async () => {
  const program = `
    import { transcriptTo } from ${JSON.stringify(resolve('src/adapters/core/transcript/transcript-file.ts'))};
    const file = transcriptTo(${JSON.stringify(file)});
    for (let i = 0; i < 50; i++) file.add({ kind: 'said', text: String(i), source: 'agent', channel: 'text' });`;
  await Promise.all(
    upTo(3).map(() => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])),
  );
  expect(counts()).toEqual(upTo(150));
});
