import { expect, it } from 'vitest';
import { chooseFirstPeripheral } from '../../src/spec/first-peripheral.ts';
import { loadBuiltInCatalogue, loadSpecs } from '../../src/spec/load/load-specs.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';

const TALK = 'id: talk\npurpose: Talk.\ntools: [bell]\nscope: conversation\nentry: [default]\nexit: { done: work }\n';
const WORK =
  'id: work\npurpose: Work.\ntools: [read]\nscope: full-codebase\nentry: [default, from-talk]\nexit: { done: talk }\n';

async function setWith(tools: string) {
  const files = [
    { file: 'tools.yaml', text: tools },
    { file: 'peripherals/talk.yaml', text: TALK },
    { file: 'peripherals/work.yaml', text: WORK },
  ];
  return parseSpecSet(tools === '' ? files.slice(1) : files, await loadBuiltInCatalogue());
}

it('every peripheral of the built-in set can send messages, and explore is still its first peripheral', async () => {
  const specs = await loadSpecs('default');
  for (const { tools } of Object.values(specs.peripherals)) expect(tools.slice(-2)).toEqual(['bell', 'whistle']);
  expect(chooseFirstPeripheral(specs)).toBe('explore');
});

it('the tools under everywhere are in each peripheral of their set once, and in no other set', async () => {
  const given = await setWith('everywhere: [bell, whistle]\n');
  expect(given).toMatchObject({
    specs: { peripherals: { talk: { tools: ['bell', 'whistle'] }, work: { tools: ['read', 'bell', 'whistle'] } } },
  });
  if (given.ok) expect(chooseFirstPeripheral(given.specs)).toBe('work');
  expect(await setWith('')).toMatchObject({ specs: { peripherals: { work: { tools: ['read'] } } } });
});

it('an unknown tool and a tool that does more than coordinate are refused under everywhere', async () => {
  expect(await setWith('everywhere: [write, bel]\n')).toMatchObject({
    ok: false,
    problems: [
      { path: 'everywhere.0', message: '"write" does more than coordinate' },
      { path: 'everywhere.1', message: 'unknown tool "bel"', suggestion: expect.stringContaining('bell') },
    ],
  });
});
