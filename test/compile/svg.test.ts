import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { graphPictureOf } from '../../src/compile/svg/graph-picture.ts';
import { orderForReading } from '../../src/compile/svg/reading-order.ts';
import { GraphTooLargeError, renderSvg } from '../../src/compile/svg/render-svg.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { depth } from '../depth.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { grid, RUNBOOK, specsOf } from '../testing/spec-sets.ts';
import { specs as randomSpecs } from './random-specs.ts';
import { CORE, GATE, specSet } from './specs.ts';

const specs = specSet(CORE, GATE);
const textsOf = (svg: string): readonly string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text!);

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
const boxesOf = (svg: string, kind: string): readonly Box[] =>
  [
    ...svg.matchAll(new RegExp(`<rect class="${kind}" x="(-?\\d+)" y="(-?\\d+)" width="(\\d+)" height="(\\d+)"`, 'g')),
  ].map(([, x, y, width, height]) => ({ x: Number(x), y: Number(y), width: Number(width), height: Number(height) }));
const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

describe('renderSvg', () => {
  it('is well-formed with a title and a description, without scripts and external files', async () => {
    const svg = await renderSvg(specs);
    expect(XMLValidator.validate(svg)).toBe(true);
    const root = new XMLParser({ ignoreAttributes: false }).parse(svg).svg;
    expect(root['@_role']).toBe('img');
    expect(root.title['#text']).toBe('The hop graph');
    expect(root.desc['#text']).toContain('test to deploy by pass');
    expect(svg).not.toMatch(/<script|href|url\(|@import|@font-face|<image|<foreignObject/);
    expect(svg).toContain('@media(prefers-color-scheme:dark)');
  });

  it('draws the same bytes every time, with rounded numbers', async () => {
    const svg = await renderSvg(specs);
    expect(await renderSvg(specs)).toBe(svg);
    expect(svg.slice(svg.indexOf('</style>'))).not.toMatch(/\d\.\d\d/);
  });

  it('shows every peripheral, every exit and the text of every gate', async () => {
    const texts = textsOf(await renderSvg(specs));
    for (const id of Object.keys(CORE)) expect(texts).toContain(id);
    for (const { from, exit, to } of specs.edges) {
      const plain = specs.edges.filter((edge) => edge.from === from && edge.to === to).length === 1;
      if (!(plain && exit === `hop-${to}`)) expect(texts).toContain(exit);
    }
    expect(texts).toEqual(
      expect.arrayContaining(['tests-passed', 'approval by operator', 'hop in: a successful step']),
    );
  });

  it('draws one arrow between two peripherals, however many exits it has', async () => {
    const [svg = ''] = (await renderSvg(specs)).split('<g class="legend"');
    const pairs = new Set(specs.edges.map(({ from, to }) => `${from} ${to}`));
    expect(svg.match(/class="arrow"/g)).toHaveLength(pairs.size);
    expect(svg.match(/class="head"/g)).toHaveLength(pairs.size);
  });

  it('draws no box or label over another', async () => {
    for (const set of [specs, fixtureSpecs]) {
      const svg = await renderSvg(set);
      const boxes = [...boxesOf(svg, 'box'), ...boxesOf(svg, 'label')];
      expect(boxes.length).toBeGreaterThan(Object.keys(set.peripherals).length);
      const covering = boxes.flatMap((a, index) =>
        boxes
          .slice(index + 1)
          .filter((b) => overlap(a, b))
          .map((b) => [a, b]),
      );
      expect(covering).toEqual([]);
    }
  });

  it('draws any spec set well-formed and without overlaps', async () => {
    await fc.assert(
      fc.asyncProperty(randomSpecs, async (set) => {
        const svg = await renderSvg(set);
        expect(XMLValidator.validate(svg)).toBe(true);
        const boxes = [...boxesOf(svg, 'box'), ...boxesOf(svg, 'label')];
        expect(boxes.flatMap((a, index) => boxes.slice(index + 1).filter((b) => overlap(a, b)))).toEqual([]);
        expect(svg).not.toMatch(/NaN|undefined|Infinity/);
      }),
      { numRuns: depth(15, 60) },
    );
  });

  it('marks the session’s peripheral, or outside for null', async () => {
    expect(await renderSvg(specs)).not.toContain('"here"');
    const inTest = await renderSvg(specs, { current: 'test' });
    expect(inTest.match(/class="node \w+ here"/g)).toHaveLength(1);
    expect(inTest).toContain('The session is in test.');
    const outside = await renderSvg(specs, { current: null });
    expect(outside).toContain('class="around here"');
    expect(outside).toContain('The session is outside.');
  });

  it('escapes XML characters and shortens long texts', async () => {
    const cel = `fruit.note == "<b>" && ${'fruit.n < 3 && '.repeat(30)}true`;
    const odd = specSet({
      one: { entry: ['default'], exits: { out: ['two'] }, gates: { two: [{ kind: 'when', cel }] } },
      two: { entry: ['from-one'], exits: {} },
    });
    const svg = await renderSvg(odd);
    expect(XMLValidator.validate(svg)).toBe(true);
    expect(svg).not.toContain('<b>');
    expect(svg).toContain('…');
  });

  it('refuses a graph that is too large for arrows, with its size', async () => {
    const large = specsOf(grid(80, 10));
    await expect(renderSvg(large)).rejects.toThrow(GraphTooLargeError);
    await expect(renderSvg(large)).rejects.toThrow(
      /^the graph has 80 peripherals and \d+ arrows; a drawing shows at most 60 and 240$/,
    );
  });

  it('draws a set without hops', async () => {
    const lone = specSet({ lone: { entry: ['default'], exits: {} } });
    expect(textsOf(await renderSvg(lone))).toContain('lone');
  });
});

describe('the layout of the picture', () => {
  it('puts a gate’s bars on a straight part of its arrow', async () => {
    const svg = await renderSvg(specsOf(RUNBOOK));
    const [, x, y, angle] = /translate\((\S+) (\S+)\) rotate\((\S+)\)"><path class="bar"/.exec(svg)!.map(Number);
    const gated = /class="edge gated"><path class="arrow" d="([^"]*)"/.exec(svg)![1]!;
    const corners = [...gated.matchAll(/Q(\S+) (\S+) /g)].map(([, at, down]) => [Number(at), Number(down)] as const);
    expect(corners.length).toBeGreaterThan(0);
    for (const [at, down] of corners) expect(Math.hypot(at - x!, down - y!)).toBeGreaterThanOrEqual(9);
    expect(Math.abs(angle! % 90)).toBe(0);
  });

  it('begins at the session’s start and follows the exits', () => {
    const order = orderForReading(graphPictureOf(specs));
    expect(order).toEqual(['explore', 'edit', 'test', 'deploy', 'reflect']);
  });
});

it('a drawing uses no CSS variables, because librsvg would paint everything black', async () => {
  expect(await renderSvg(await loadSpecs('default'))).not.toMatch(/var\(|--[a-z]/);
});

it('docs/pictures/hop-graph.svg is the built-in graph (write it again with: npx vitest run test/compile/svg.test.ts -u)', async () => {
  await expect(await renderSvg(await loadSpecs('default'))).toMatchFileSnapshot('../../docs/pictures/hop-graph.svg');
  expect(readFileSync('README.md', 'utf8')).toContain('](docs/pictures/hop-graph.svg)');
});
