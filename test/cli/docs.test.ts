import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { createCliProgram } from '../../src/cli/program.ts';
import { commitAll, type Machine, machine } from './run.ts';

const PAGE = 'docs/cli.md';
const SHOP = {
  'package.json': '{"name":"shop","scripts":{"test":"node --test"}}\n',
  'src/cart.js': 'export const total = (items) => items.reduce((sum, item) => sum + item.price, 0);\n',
  'docs/cart.md': '# The cart\n',
  'test/cart.test.js': '',
};

/** `[printf '…' | ]hopgate …` in-process. */
async function type(line: string, { run, feed }: Machine): Promise<string> {
  const [, input, rest] = /^(?:printf '([^']*)' \| )?hopgate (.*)$/.exec(line)!;
  const argv = rest!.split(' ');
  return (await (input === undefined ? run(...argv) : feed(input.replaceAll('\\n', '\n'), ...argv))).all;
}

/** Replaces values that differ between machines by those of a reader's machine. */
const asOnAnyMachine = (text: string, { root, env }: Machine): string =>
  text
    .replaceAll(root, '/home/me/shop')
    .replaceAll(env['XDG_STATE_HOME']!, '/home/me/.local/state')
    .replaceAll(process.cwd(), '/usr/lib/node_modules/hopgate')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-01-02T03:04:05.678Z')
    .replaceAll(/\+\d\.\d{3}s\b/g, '+0.125s')
    .replaceAll(/(\/hopgate)\/[0-9a-f]{16}\//g, '$1/f2af6c097ab83376/')
    .replaceAll(/--after [\d.]+/g, '--after 1767323045678.0.4')
    .replaceAll(/\be-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'e-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed')
    .replaceAll(/"hash": "[0-9a-f]{64}"/g, `"hash": "${'46b43916'.repeat(8)}"`)
    .replaceAll(/\bs-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 's-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed');

it('docs/cli.md shows what the commands print (rewrite it with: npx vitest run test/cli/docs.test.ts -u)', async () => {
  const shop = machine(SHOP);
  commitAll(shop.root);
  execFileSync('git', ['-C', shop.root, 'remote', 'add', 'origin', 'https://example.com/shop.git']);
  for (const [key, value] of [
    ['user.name', 'Me'],
    ['user.email', 'me@example.com'],
  ] as const)
    execFileSync('git', ['-C', shop.root, 'config', key, value]);
  let commands = 0;
  const parts: string[] = [];
  for (const part of readFileSync(PAGE, 'utf8').split(/(^```console\n[\s\S]*?^```$)/m)) {
    if (!part.startsWith('```console')) {
      parts.push(part);
      continue;
    }
    const lines = part.split('\n').filter((line) => line.startsWith('$ '));
    const blocks: string[] = [];
    for (const line of lines) {
      commands += 1;
      blocks.push(`${line}\n${asOnAnyMachine(await type(line.slice(2), shop), shop)}`);
    }
    parts.push(`\`\`\`console\n${blocks.join('\n')}\`\`\``);
  }
  expect(commands).toBeGreaterThan(15);
  await expect(parts.join('')).toMatchFileSnapshot(`../../${PAGE}`);
});

it('docs/cli.md names every command', async () => {
  const io: Io = {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    isTty: false,
    env: {},
    cwd: '/',
    color: false,
    json: false,
    exitCode: 0 as const,
  };
  const page = readFileSync(PAGE, 'utf8');
  const program = await createCliProgram(io);
  const names = program
    .createHelp()
    .visibleCommands(program)
    .map((command) => command.name())
    .filter((name) => name !== 'help');
  expect(names.filter((name) => !page.includes(`hopgate ${name}`))).toEqual([]);
});
