import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CEL_FACTS } from '../../src/spec/cel-facts.ts';
import { parseProjectConfig } from '../../src/spec/load/load-project-config.ts';
import { loadCatalogue, loadSpecs } from '../../src/spec/load/load-specs.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { parseScenario } from '../../src/spec/resolve/parse-scenario.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import { OBSERVATIONS } from '../../src/spec/types.ts';

const page = readFileSync('docs/spec-reference.md', 'utf8');
const catalogue = await loadCatalogue();
const shipped = await loadSpecs('default');
const shippedPeripherals = Object.keys(shipped.peripherals)
  .filter((id) => id !== 'test')
  .map((id) => ({ file: `peripherals/${id}.yaml`, text: readFileSync(`specs/peripherals/${id}.yaml`, 'utf8') }));

/** The YAML examples by the file name in their first line. */
const examples = new Map(
  [...page.matchAll(/```yaml\n# (\S+)\n([\s\S]*?)```/g)].map(([, file, text]) => [file!, text!] as const),
);
const rows = (columns: number) =>
  page
    .split('\n')
    .filter((line) => /^\| (chat|deploy|discipline|edit|explore|reflect|test) \|/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
    .filter((cells) => cells.length === columns);

describe('the spec reference', () => {
  it('has a valid example of each file', () => {
    expect([...examples.keys()]).toEqual([
      'peripherals/test.yaml',
      'conditions.yaml',
      'gate.yaml',
      'tools.yaml',
      'scopes.yaml',
      'hopgate.yaml',
      'scenarios/look.yaml',
    ]);
    const inSet = [...examples].filter(([file]) => !file.startsWith('hopgate') && !file.startsWith('scenarios'));
    const sources = [...shippedPeripherals, ...inSet.map(([file, text]) => ({ file, text }))];
    expect(parseSpecSet(sources, catalogue)).toMatchObject({ ok: true });
    expect(parseProjectConfig(examples.get('hopgate.yaml')!)).toMatchObject({ ok: true });
    expect(parseScenario({ file: 's', text: examples.get('scenarios/look.yaml')! })).toMatchObject({ ok: true });
    const edn = /```edn\n([\s\S]*?)```/.exec(page)![1]!;
    expect(parseSpecSet([{ file: 'a.edn', text: edn }], catalogue)).toMatchObject({ ok: true });
  });

  it('lists every shipped entry', () => {
    const expected = Object.values(shipped.peripherals).flatMap(({ id, entry }) => [
      ...entry.sources.map((source) => `${id} ${source.kind === 'from' ? `from-${source.peripheral}` : source.kind}`),
      ...entry.conditions.map((condition) => `${id} ${condition}`),
    ]);
    expect(
      rows(3)
        .map(([id, name]) => `${id} ${name}`)
        .sort(),
    ).toEqual(expected.sort());
  });

  it('lists every shipped exit with its destinations, and marks the observed ones', () => {
    const expected = Object.values(shipped.peripherals).flatMap(({ id, exits }) =>
      exits.map(
        ({ name, opens, implies }) => `${id} ${name} ${opens.map(({ to }) => to).join(', ')} ${implies !== null}`,
      ),
    );
    const listed = rows(4).map(
      ([id, name, opens, truth]) => `${id} ${name} ${opens} ${truth!.startsWith('the observed')}`,
    );
    expect(listed.sort()).toEqual(expected.sort());
  });

  it('names every observation, fact and default mask', () => {
    for (const name of OBSERVATIONS) expect(page).toContain(`\`${name}\``);
    for (const [fact, members] of Object.entries(CEL_FACTS)) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${fact}.`)) ?? '';
      for (const member of Object.keys(members)) expect(row).toContain(`.${member}\``);
    }
    for (const mask of DEFAULT_PROJECT_CONFIG.mask) expect(page).toContain(`\`${mask}\``);
  });
});
