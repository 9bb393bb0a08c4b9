import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { analyse } from 'scslre';
import { expect, it } from 'vitest';

/** Files whose expressions may take quadratic time, because the length of their texts is limited. */
const LIMITED: { readonly [file: string]: string } = {
  'src/social/talk-patterns.ts': 'a message of at most 16,384 characters',
  'src/cli/detect/files-to-unmask.ts': 'a line of an .npmrc, read once by init',
};

function expressionsIn(file: string): readonly string[] {
  const found: string[] = [];
  new Visitor({
    Literal: (node) => void ('regex' in node && found.push(node.raw ?? '')),
  }).visit(parseSync(file, readFileSync(file, 'utf8')).program);
  return found;
}

/** True if some text makes the expression take more than linear time. */
function isSlow(literal: string): boolean {
  const end = literal.lastIndexOf('/');
  const parsed = { source: literal.slice(1, end), flags: literal.slice(end + 1) };
  return analyse(parsed, { reportTypes: { Move: true, Self: true, Trade: true } }).reports.length > 0;
}

// An agent chooses the texts that hopgate reads: commands, messages, files, output. A slow expression would let it stop
// the gate for minutes.
it('every regular expression takes linear time, unless its text is short', () => {
  const slow = globSync('src/**/*.{ts,tsx}').flatMap((file) =>
    expressionsIn(file)
      .filter(isSlow)
      .map((literal) => ({ file, literal })),
  );
  expect(slow.filter(({ file }) => !Object.hasOwn(LIMITED, file))).toEqual([]);
  expect([...new Set(slow.map(({ file }) => file))].toSorted()).toEqual(Object.keys(LIMITED).toSorted());
});
