import type { Command } from 'commander';
import { examine, type Finding } from '../doctor.ts';
import { type Io, paint, print, printJson, type Style } from '../io.ts';
import { examples, rootOf, rootOption } from '../options.ts';

interface Options {
  readonly root: string;
}

export function register(program: Command, io: Io): void {
  program
    .command('doctor')
    .summary('show what is there, what is missing, and what works without it')
    .description(
      'Looks for Node, git, bubblewrap and ripgrep, the state folder, hopgate.yaml and the specs. Exit code 1 only where no session could start;\nwhat is merely missing is named with what works without it and how to get it.',
    )
    .addOption(rootOption())
    .addHelpText('after', examples('hopgate doctor', 'hopgate doctor --json'))
    .action((options: Options) => doctor(io, options));
}

async function doctor(io: Io, options: Options): Promise<void> {
  const root = rootOf(io, options);
  const findings = await examine(root, io);
  const ok = findings.every(({ status }) => status !== 'broken');
  io.exitCode = ok ? 0 : 1;
  if (io.json) printJson(io, { ok, root, findings });
  else print(io, findings.map((finding) => describe(io, finding)).join('\n'));
}

const MARKS: { readonly [status in Finding['status']]: readonly [mark: string, style: Style] } = {
  ok: ['ok     ', 'green'],
  missing: ['missing', 'yellow'],
  broken: ['broken ', 'red'],
};

function describe(io: Io, { name, status, found, without, fix, details = [] }: Finding): string {
  const [mark, style] = MARKS[status];
  const lines = [`${paint(io, style, mark)}  ${name.padEnd(12)}  ${found}`];
  for (const line of [without, fix, ...details]) if (line) lines.push(`${' '.repeat(23)}${line}`);
  return lines.join('\n');
}
