import fs from 'node:fs';
import { join } from 'node:path';
import type { World } from '../attacked-machine.ts';
import { type Case, rows } from '../case.ts';

const look = rows('explore', 'bash-readonly');
const work = rows('edit', 'bash');

/** `src/n\xff`: bytes that are not UTF-8, which file systems allow and archives may contain. */
const notUtf8 = ({ root }: World): Buffer => Buffer.concat([Buffer.from(`${root}/src/n`), Buffer.from([0xff])]);

const folder = (name: string, text: (world: World) => string) => ({
  before: (world: World) => {
    fs.mkdirSync(notUtf8(world));
    fs.writeFileSync(Buffer.concat([notUtf8(world), Buffer.from(`/${name}`)]), text(world));
  },
  after: (world: World) => fs.rmSync(notUtf8(world), { recursive: true, force: true }),
});
const masked = folder('.env', ({ secrets }) => `TOKEN=${secrets[0]}\n`);
const plain = folder('a.txt', () => 'found me\n');

/** A masked name that is a link; only the link's name masks its target. */
const link = (target: (world: World) => string) => ({
  before: (world: World) => {
    fs.mkdirSync(join(world.root, 'src/kept/deep'), { recursive: true });
    fs.writeFileSync(join(world.root, 'src/kept/deep/values'), `TOKEN=${world.secrets[0]}\n`);
    fs.symlinkSync('kept/deep', join(world.root, 'src/kept-link'));
    fs.symlinkSync('../kept-link/values', join(world.root, 'src/kept/hop'));
    fs.symlinkSync(target(world), join(world.root, 'src/sub/.env'));
  },
  after: (world: World) => {
    for (const path of ['src/kept', 'src/kept-link', 'src/sub/.env'])
      fs.rmSync(join(world.root, path), { recursive: true, force: true });
  },
});
const LINKS: readonly (readonly [name: string, target: (world: World) => string])[] = [
  ['relative', () => '../kept/deep/values'],
  ['absolute', ({ root }) => join(root, 'src/kept/deep/values')],
  ['by another link', () => '../kept/hop'],
  ['by a linked folder', () => '../kept-link/values'],
];

export const oddNameCases: readonly Case[] = [
  ...[look, work].flatMap((tool) => [
    tool.attack(
      'R6',
      'a masked file in a folder whose name is not UTF-8',
      { command: "cat src/n*/.env src/n$'\\xff'/.env; grep -ra TOKEN src" },
      'contained',
      masked,
    ),
    tool.attack(
      'R6',
      'a masked name that is not UTF-8',
      { command: 'cat src/n*/*.pem' },
      'contained',
      folder('k.pem', ({ secrets }) => `${secrets[0]}\n`),
    ),
    tool.benign(
      'control',
      'a folder whose name is not UTF-8',
      { command: "cat src/n$'\\xff'/a.txt" },
      { ...plain, shows: ['found me'] },
    ),
    ...LINKS.map(([name, target]) =>
      tool.attack(
        'R6',
        `a masked link, ${name}`,
        { command: 'cat src/sub/.env src/kept/deep/values src/kept/hop src/kept-link/values' },
        'contained',
        link(target),
      ),
    ),
  ]),
  work.benign(
    'R3',
    'a new name that is not UTF-8 is dropped, and the rest kept',
    { command: "echo x > src/q$'\\xff'.txt; echo kept > src/beside.txt" },
    { files: { 'src/beside.txt': 'kept\n' }, shows: ['its name is not UTF-8'] },
  ),
  work.benign(
    'R3',
    'work beside a name that is not UTF-8',
    { command: 'echo again > src/beside.txt; echo more >> src/n*/a.txt; rm -r src/n*' },
    { ...plain, files: { 'src/beside.txt': 'again\n' }, shows: ['its name is not UTF-8'] },
  ),
];
