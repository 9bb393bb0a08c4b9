import { describe, expect, it } from 'vitest';
import { DRAWN_FORMATS, drawGraph } from '../../src/compile/draw-graph.ts';
import type { SpecSet } from '../../src/spec/types.ts';
import { CORE, GATE, type Sketch, specSet } from './specs.ts';

/** All elements of a picture, and texts that a drawing language could read as its own syntax. */
function everything(): SpecSet {
  const sketches: { readonly [id: string]: Sketch } = {
    ...CORE,
    test: {
      ...CORE['test']!,
      exits: { ...CORE['test']!.exits, 'hop-end': [{ to: 'end', when: 'fruit.n > 3 && "a" < "b"' }] },
      gates: {
        deploy: [
          { kind: 'approval', by: 'operator' },
          { kind: 'when', cel: 'visits.edit > 1; tests.count >= 2' },
        ],
        end: [{ kind: 'pattern', pattern: 'reproduce-first', is: 'held' }],
      },
    },
    end: {
      entry: ['from-test', 'quiet', 'tests-passed'],
      exits: { again: ['end', 'explore'] },
      agents: ['claude', 'codex'],
    },
    alone: { entry: ['default'], exits: {} },
  };
  const set = specSet(sketches, GATE);
  const { explore, edit, test, end } = set.peripherals as { readonly [id: string]: SpecSet['peripherals'][string] };
  return {
    ...set,
    tools: {
      read: { id: 'read', purpose: 'Reads <a> & "b".', effect: 'observe', parameters: [], limits: {} },
    } as unknown as SpecSet['tools'],
    peripherals: {
      ...set.peripherals,
      explore: { ...explore!, tools: ['read', 'unknown'], purpose: 'Looks; <writes> nothing & "says" so.\nTwice.' },
      edit: {
        ...edit!,
        tools: ['read'],
        scope: { name: 'src <only>', rule: { read: 'root', write: ['src/', 'docs/'], command: 'none', url: 'none' } },
        context: {
          'session-id': { source: { kind: 'inherit' }, optional: false },
          target: { source: { kind: 'fruit', peripheral: 'explore' }, optional: true },
          log: { source: { kind: 'session-log' }, optional: true },
        },
        fruit: {
          changes: { kind: 'observed', type: 'integer', from: 'changes' },
          summary: { kind: 'stated', type: 'string', optional: true },
          size: { kind: 'stated', type: ['small', 'large'], optional: false },
        },
      },
      test: { ...test!, limits: { steps: 100, minutes: 30 } },
      end: {
        ...end!,
        limits: { steps: 7, minutes: null },
        scope: { name: 'web', rule: { read: 'none', write: [], command: 'deploy', url: 'allow-list' } },
      },
    },
  };
}

// Look at each picture before you accept its change (vitest -u), because people see them.
describe('the committed picture', () => {
  it.each(DRAWN_FORMATS)('of all elements equals the drawing, as %s', async (format) => {
    const drawn = await drawGraph(everything(), format, { current: 'test' });
    await expect(drawn).toMatchFileSnapshot(`renderings/everything.${format}`);
  });

  it('of a session outside of any peripheral equals the drawing', async () => {
    const small = specSet({ a: { entry: ['default'], exits: { on: ['b'] } }, b: { entry: ['from-a'], exits: {} } });
    await expect(await drawGraph(small, 'svg', { current: null })).toMatchFileSnapshot('renderings/outside.svg');
  });
});
