import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { depth } from '../depth.ts';
import { type Block, blocksOf, isProgram, pages } from './blocks.ts';
import { type Machine, machine, type Ran } from './machine.ts';

// Pages with tests of their own: test/cli/docs.test.ts, test/spec/spec-reference.test.ts, test/docs/extend.test.ts.
const ELSEWHERE = ['docs/cli.md', 'docs/spec-reference.md', 'docs/extend/'];
const shown = pages().filter((page) => !ELSEWHERE.some((path) => page.startsWith(path)) && blocksOf(page).some(runs));
/** `npm test` executes what a newcomer reads first, `npm run test:deep` every page. */
const FIRST = ['README.md'];

function runs(block: Block): boolean {
  return block.lang === 'sh' || block.lang === 'console' || isProgram(block);
}

/** Replaces values that differ between machines by those of a reader's machine. */
const asOnAnyMachine = (text: string, { root, state }: Machine): string =>
  text
    .replaceAll(root, '/home/me/mine')
    .replaceAll(state, '/home/me/.local/state')
    .replaceAll(process.cwd(), '/home/me/mine/node_modules/hopgate')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-01-02T03:04:05.678Z')
    .replaceAll(/\+\d\.\d{3}s\b/g, '+0.125s')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '46b43916'.repeat(8))
    .replaceAll(/\b[0-9a-f]{16}…/g, '46b4391646b43916…')
    .replaceAll(
      /(approve |Approved: |Refused: |^(?=\w+ {2}))[a-z2-9]{6}(?="|:|,|\.| {2}now | {2}\d min )/gm,
      '$1k7m2xq',
    )
    .replaceAll(/^(k7m2xq {2})\d min/gm, '$1now  ')
    .replaceAll(/\b([a-z])-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '$1-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed');

/** Each line is a command. One with the comment `# refused` has to fail, any other has to succeed. */
const scriptOf = (text: string): string =>
  text
    .replaceAll('npm run hopgate --', 'hopgate')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, command] = /^(.*?)\s+# refused\b/.exec(line) ?? [];
      if (command === undefined) return `{ ${line}\n} || exit`; // `set -e` ignores a failure before an `&&`
      return `if ${command}; then echo 'this was to be refused' >&2; exit 97; fi`;
    })
    .join('\n');

async function typed(block: Block, on: Machine): Promise<string> {
  const shown: string[] = [];
  for (const line of block.text.split('\n').filter((line) => line.startsWith('$ ')))
    shown.push(`${line}\n${asOnAnyMachine((await on.bash(scriptOf(line.slice(2)))).all, on)}`);
  return shown.join('\n');
}

const problem = ({ page, line }: Block, { code, all }: Ran): string => `${page}:${line} ended with ${code}\n${all}`;

describe.each(
  depth(
    shown.filter((page) => FIRST.includes(page)),
    shown,
  ),
)('%s', (page) => {
  it(`works as shown (rewrite what is printed with: HOPGATE_DEEP=1 npx vitest run test/docs -u)`, async () => {
    const on = machine();
    let printed: string | null = null;
    const rewritten = new Map<Block, string>();
    for (const block of blocksOf(page)) {
      const { lang, file, text, notRun, line } = block;
      if (notRun !== null && lang !== 'text') console.log(`${page}:${line} is not run: ${notRun}`);
      else if (lang === 'sh') {
        const ran = await on.bash(scriptOf(text));
        expect(ran.code, problem(block, ran)).toBe(0);
        printed = ran.all;
      } else if (lang === 'console') rewritten.set(block, await typed(block, on));
      else if (isProgram(block)) {
        const name = file ?? `program-${line}.ts`;
        on.write(name, text);
        const ran = await on.program(name);
        expect(ran.code, problem(block, ran)).toBe(0);
        printed = ran.all;
      } else if (lang === 'text' && notRun === null && printed !== null) {
        rewritten.set(block, asOnAnyMachine(printed, on));
        printed = null;
      } else if (file !== null) on.write(file, text);
    }
    const printedNow = [...rewritten.values()].join('\n');
    expect(printedNow, `${page} would show how a program crashed`).not.toMatch(
      /^(?:Node\.js v\d|\s+at .*(?:file|node):)/m,
    );
    await expect(replaced(page, rewritten)).toMatchFileSnapshot(`../../${page}`);
  });
});

/** The page with the present output instead of the output that it shows. */
function replaced(page: string, rewritten: ReadonlyMap<Block, string>): string {
  const lines = readFileSync(page, 'utf8').split('\n');
  for (const [{ line, text }, output] of [...rewritten].reverse())
    lines.splice(line, text.split('\n').length - 1, ...output.replace(/\n$/, '').split('\n'));
  return lines.join('\n');
}

it('the README and the recipes are executed', () => {
  expect(shown).toContain('README.md');
  expect(shown.filter((page) => page.startsWith('docs/recipes/')).length).toBeGreaterThanOrEqual(11);
});
