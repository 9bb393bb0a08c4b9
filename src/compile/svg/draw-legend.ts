import { isPlainEdge } from './draw-edge.ts';
import type { GraphPicture, NeedMark } from './graph-picture.ts';
import { drawNeedMark, NEED_MARK_MEANINGS } from './need-marks.ts';
import { escapeXml, estimateWidth } from './svg-text.ts';

const LINE = 24;
const GAP = 22;

const EFFECT_WORDS = {
  observe: 'only observes',
  act: 'may change things',
  coordinate: 'coordinates',
  simulate: 'changes a world of its own',
  none: 'no tools',
};

interface Item {
  readonly width: number;
  draw(x: number, y: number): string;
}

/** Draws the legend of the marks and colours in use, and the states outside and closed. */
export function drawLegend(
  { nodes, edges }: GraphPicture,
  width: number,
  outside: boolean,
): { readonly svg: string; readonly height: number } {
  const needs = [
    ...nodes.flatMap(({ entryNeeds }) => entryNeeds),
    ...edges.flatMap((edge) => [...edge.needs, ...edge.exits.flatMap((exit) => exit.needs)]),
  ];
  const marks = new Set<NeedMark>(needs.map(({ mark }) => mark));
  if (edges.some(({ exits }) => exits.some(({ observed }) => observed))) marks.add('observed');
  const plain = edges.some(isPlainEdge);
  const effects = new Set(nodes.map(({ effect }) => effect ?? ('none' as const)));
  const items = [
    specialStates(outside),
    ...(['observe', 'act', 'simulate', 'coordinate', 'none'] as const)
      .filter((each) => effects.has(each))
      .map(effectItem),
    ...(plain ? [plainItem] : []),
    ...(Object.keys(NEED_MARK_MEANINGS) as NeedMark[]).filter((mark) => marks.has(mark)).map(markItem),
  ];
  let x = 0;
  let y = 0;
  const drawn = items.map((item) => {
    if (x > 0 && x + item.width > width) {
      x = 0;
      y += LINE;
    }
    const svg = item.draw(x, y);
    x += item.width + GAP;
    return svg;
  });
  return { svg: `<path class="rule" d="M0 -${MARGIN_ABOVE}H${width}"/>${drawn.join('')}`, height: y + LINE };
}
const MARGIN_ABOVE = 10;

const smallText = (x: number, y: number, text: string): string =>
  `<text class="small" x="${x}" y="${y + 14}">${escapeXml(text)}</text>`;
const textSize = (text: string): number => Math.ceil(estimateWidth(text, 11));

const markItem = (mark: NeedMark): Item => ({
  width: 17 + textSize(NEED_MARK_MEANINGS[mark]),
  draw: (x, y) => drawNeedMark(mark, x, y + 4) + smallText(x + 17, y, NEED_MARK_MEANINGS[mark]),
});

const effectItem = (effect: keyof typeof EFFECT_WORDS): Item => ({
  width: 17 + textSize(EFFECT_WORDS[effect]),
  draw: (x, y) =>
    `<g class="${effect}"><rect class="dot" x="${x}" y="${y + 4}" width="12" height="12" rx="3"/></g>${smallText(x + 17, y, EFFECT_WORDS[effect])}`,
});

const PLAIN = 'hop-<target>';
const plainItem: Item = {
  width: 34 + textSize(PLAIN),
  draw: (x, y) =>
    `<path class="arrow" d="M${x} ${y + 10}h20"/><path class="head" d="M${x + 26} ${y + 10}l-9 -4.5v9z"/>${smallText(x + 34, y, PLAIN)}`,
};

/** The two states that are not peripherals: outside and closed. */
function specialStates(isCurrent: boolean): Item {
  const stop = 'outside: where visits start and stop';
  return {
    width: 40 + textSize(stop) + 28 + textSize('closed') + 26,
    draw: (x, y) => {
      const middle = y + 10;
      const end = x + 20 + textSize(stop) + 8;
      return [
        `<circle class="outside" cx="${x + 7}" cy="${middle}" r="5"/>`,
        isCurrent
          ? `<circle class="around here" cx="${x + 7}" cy="${middle}" r="8"/><circle class="outside" cx="${x + 7}" cy="${middle}" r="4"/>`
          : '',
        smallText(x + 20, y, stop),
        `<path class="around" d="M${end} ${middle}h20m-4 -3.500l4 3.500l-4 3.500"/>`.replaceAll('3.500', '3.5'),
        `<circle class="around" cx="${end + 32}" cy="${middle}" r="6"/><circle class="outside" cx="${end + 32}" cy="${middle}" r="3"/>`,
        smallText(end + 44, y, 'closed'),
      ].join('');
    },
  };
}
