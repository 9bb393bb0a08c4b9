import type { Case } from '../case.ts';
import { commandCases } from './commands.ts';
import { hostileConfigCases } from './hostile-config.ts';
import { hostileRepositoryCases } from './hostile-repository.ts';
import { oddNameCases } from './odd-names.ts';
import { pathCases } from './paths.ts';
import { pinCases } from './pin.ts';
import { deployCases, gitCases, reflectCases } from './shipping.ts';
import { webCases } from './web.ts';

/** Tools that no peripheral has, or not this one, in every shape a name can take. */
const unknown: readonly Case[] = [
  '',
  'Read',
  'read ',
  '__proto__',
  'constructor',
  'toString',
  'eval',
  'rm',
  'bash\0',
  '../read',
  42,
  null,
  ['read'],
  {},
].map(
  (tool): Case => ({
    class: 'R6',
    kind: 'attack',
    peripheral: 'explore',
    name: `the tool ${JSON.stringify(tool)}`,
    tool: tool as string,
    args: { path: 'src/a.txt' },
    expect: 'refused',
  }),
);

const foreign: readonly Case[] = ['write', 'edit', 'bash', 'bash-test', 'bash-git', 'bash-deploy', 'musn-log'].map(
  (tool): Case => ({
    class: 'R12',
    kind: 'attack',
    peripheral: 'explore',
    name: `the tool ${tool}, which is not of this peripheral`,
    tool,
    args: { path: 'src/a.txt', content: 'x', command: 'id', sub: 'status', name: 'staging' },
    expect: 'tool-not-allowed',
  }),
);

const shapes: readonly Case[] = [undefined, null, 42, 'src/a.txt', true, [], [[]], { path: { path: 'src/a.txt' } }].map(
  (args): Case => ({
    class: 'R2',
    kind: 'attack',
    peripheral: 'explore',
    name: `arguments that are ${JSON.stringify(args)}`,
    tool: 'read',
    args,
    expect: 'invalid-action',
  }),
);

/** Every case that is played through a real session. */
export const ALL_CASES: readonly Case[] = [
  ...pathCases,
  ...commandCases,
  ...oddNameCases,
  ...gitCases,
  ...deployCases,
  ...reflectCases,
  ...webCases,
  ...hostileConfigCases,
  ...hostileRepositoryCases,
  ...pinCases,
  ...unknown,
  ...foreign,
  ...shapes,
];

/**
 * One of every `step` attacks, the first of each class, and one of every `step / 2` harmless cases.
 */
export function oneOf(step: number): readonly Case[] {
  const every = Math.ceil(step / 2);
  const benign = ALL_CASES.filter(({ kind, inSequence }) => kind === 'benign' && (step === 1 || inSequence !== true));
  const attacks = ALL_CASES.filter(({ kind }) => kind === 'attack');
  const firsts = Map.groupBy(attacks, (one) => one.class)
    .values()
    .map(([first]) => first);
  const played = new Set([...firsts, ...benign.filter((_, at) => at % every === 0)]);
  return ALL_CASES.filter((one, at) => played.has(one) || (one.kind === 'attack' && at % step === 0));
}
