import { readFileSync } from 'node:fs';
import { measureAblations, measureConditions, type Row } from './measure.ts';
import { type HouseRow, measureHouse, measureHouseAblations } from './measure-house.ts';

export const PAGE = 'docs/does-it-help.md';
export const RUNS = 10_000;

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const figures = (row: Row): readonly string[] => [
  percent(row.solved),
  percent(row.wroteOutside),
  percent(row.shippedUntested),
  percent(row.shippedBroken),
  row.calls.toFixed(1),
  row.refused.toFixed(1),
];
const houseFigures = (row: HouseRow): readonly string[] => [
  percent(row.solved),
  percent(row.wroteOutside),
  percent(row.peeked),
  percent(row.claimedFalsely),
  row.calls.toFixed(1),
  row.refused.toFixed(1),
];
const HOUSE_HEAD = ['solved', 'wrote a file', 'read the answer', 'left as won without a win', 'calls', 'refused'];
const HEAD = ['solved', 'wrote outside', 'shipped untested', 'shipped broken', 'calls', 'refused'];

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, at) => (at === 0 ? '---' : '--:')), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

export const measureAll = async (runs = RUNS) => ({
  conditions: await measureConditions(runs),
  ablations: await measureAblations(runs),
  house: await measureHouse(runs),
  houseAblations: await measureHouseAblations(runs),
});

type Measured = Awaited<ReturnType<typeof measureAll>>;

/** The page with tables of these measurements. Each table is between two comments. */
export function pageWith({ conditions, ablations, house, houseAblations }: Measured): string {
  const tables: { readonly [name: string]: string } = {
    conditions: table(
      ['what the agent learns', 'lapses', ...HEAD],
      conditions.map((row) => [row.condition, percent(row.lapse), ...figures(row)]),
    ),
    house: table(
      ['what the agent learns', 'lapses', ...HOUSE_HEAD],
      house.map((row) => [row.condition, percent(row.lapse), ...houseFigures(row)]),
    ),
    houseAblations: table(
      ['the peripherals of the house', ...HOUSE_HEAD],
      houseAblations.map((row) => [row.condition, ...houseFigures(row)]),
    ),
    ablations: table(
      ['without', 'lapses to', ...HEAD],
      ablations.map((row) => [row.condition, row.kind, ...figures(row)]),
    ),
  };
  return readFileSync(PAGE, 'utf8').replaceAll(
    /<!-- table: (\w+) -->\n[\s\S]*?<!-- end -->/g,
    (_, name: string) => `<!-- table: ${name} -->\n\n${tables[name]}\n\n<!-- end -->`,
  );
}
