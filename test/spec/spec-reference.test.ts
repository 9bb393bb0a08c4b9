import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CEL_FACT_TYPES } from '../../src/spec/cel-facts.ts';
import { loadBuiltInCatalogue, loadSpecs } from '../../src/spec/load/load-specs.ts';
import { DEFAULT_PROJECT_CONFIG, parseProjectConfig } from '../../src/spec/resolve/parse-project-config.ts';
import { parseScenario } from '../../src/spec/resolve/parse-scenario.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import { FRUIT_OBSERVATIONS } from '../../src/spec/types.ts';

const page = readFileSync('docs/spec-reference.md', 'utf8');
const catalogue = await loadBuiltInCatalogue();
const builtIn = await loadSpecs('default');
const builtInPeripherals = Object.keys(builtIn.peripherals)
  .filter((id) => id !== 'test')
  .map((id) => ({ file: `peripherals/${id}.yaml`, text: readFileSync(`specs/peripherals/${id}.yaml`, 'utf8') }));

/** The YAML examples by the file name in their first line. */
const examples = new Map(
  [...page.matchAll(/```yaml\n# (\S+)\n([\s\S]*?)```/g)].map(([, file, text]) => [file!, text!] as const),
);

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
    const sources = [...builtInPeripherals, ...inSet.map(([file, text]) => ({ file, text }))];
    expect(parseSpecSet(sources, catalogue)).toMatchObject({ ok: true });
    expect(parseProjectConfig(examples.get('hopgate.yaml')!)).toMatchObject({ ok: true });
    expect(parseScenario({ file: 's', text: examples.get('scenarios/look.yaml')! })).toMatchObject({ ok: true });
    const edn = /```edn\n([\s\S]*?)```/.exec(page)![1]!;
    expect(parseSpecSet([{ file: 'a.edn', text: edn }], catalogue)).toMatchObject({ ok: true });
  });

  it('names every observation, fact and default mask', () => {
    for (const name of FRUIT_OBSERVATIONS) expect(page).toContain(`\`${name}\``);
    for (const [fact, members] of Object.entries(CEL_FACT_TYPES)) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${fact}.`)) ?? '';
      for (const member of Object.keys(members)) expect(row).toContain(`.${member}\``);
    }
    for (const mask of DEFAULT_PROJECT_CONFIG.mask) expect(page).toContain(`\`${mask}\``);
  });
});
