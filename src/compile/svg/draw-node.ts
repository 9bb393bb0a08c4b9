import type { Rectangle, Size } from './layout.ts';
import { drawMark } from './marks.ts';
import type { PictureNode } from './picture.ts';
import { widthOf, wrap, xml } from './text.ts';

const WIDTH = 206;
const LEFT = 16;
const INNER = WIDTH - LEFT - 10;

interface Row {
  readonly kind: 'name' | 'purpose' | 'tools' | 'rule' | 'start' | 'door';
  readonly text: string;
  readonly height: number;
  readonly mark?: Parameters<typeof drawMark>[0];
}

/** How large a peripheral's box is. */
export const nodeSize = (node: PictureNode): Size => ({
  width: Math.max(WIDTH, Math.ceil(widthOf(node.id, 16) * 1.1) + LEFT + 12),
  height: rowsOf(node).reduce((sum, { height }) => sum + height, 16),
});

/** A peripheral's box: name, purpose, tools, how one starts there, what every hop to it needs. `here`: the session stands in it. */
export function drawNode(node: PictureNode, { x, y, width, height }: Rectangle, here: boolean): string {
  const parts = [
    `<title>${xml(`${node.id}: ${node.purpose}`)}</title>`,
    `<rect class="box" x="${x}" y="${y}" width="${width}" height="${height}" rx="9"/>`,
    `<path class="strip" d="M${x + 9} ${y}h-1a8 8 0 0 0 -8 8v${height - 16}a8 8 0 0 0 8 8h1a4 4 0 0 1 -4 -4v${8 - height}a4 4 0 0 1 4 -4z"/>`,
  ];
  let top = y + 8;
  for (const row of rowsOf(node)) {
    parts.push(drawRow(row, x, top, width));
    top += row.height;
  }
  if (here) {
    parts.push(
      `<rect class="you" x="${x + width - 54}" y="${y - 9}" width="44" height="18" rx="9"/>`,
      `<text class="you-text" x="${x + width - 32}" y="${y + 4}" text-anchor="middle">here</text>`,
    );
  }
  return `<g class="node ${node.effect ?? 'none'}${here ? ' here' : ''}">${parts.join('')}</g>`;
}

function rowsOf(node: PictureNode): readonly Row[] {
  const lines = (kind: Row['kind'], text: string, size: number, count: number): Row[] =>
    wrap(text, { width: INNER, size, lines: count, font: kind === 'tools' ? 'mono' : 'sans' }).map((line) => ({
      kind,
      text: line,
      height: size + 3.5,
    }));
  const door = node.door.map(({ mark, words }): Row => {
    const [text = ''] = wrap(`hop in: ${words}`, { width: INNER - 16, size: 11, lines: 1 });
    return { kind: 'door', text, mark, height: 17 };
  });
  const start: Row[] =
    node.start === null
      ? []
      : wrap(`start: ${node.start}`, { width: INNER - 16, size: 11, lines: 2 }).map((text, index) => ({
          kind: index === 0 ? 'start' : 'purpose',
          text,
          height: 17,
        }));
  const rows = [
    { kind: 'name', text: node.id, height: 22 } as const,
    ...lines('purpose', node.purpose, 11.5, 3),
    ...lines('tools', node.tools.length === 0 ? 'no tools' : node.tools.join(' '), 10.5, 3),
  ];
  const below = [...start, ...door];
  return below.length === 0 ? rows : [...rows, { kind: 'rule', text: '', height: 8 }, ...below];
}

function drawRow({ kind, text, height, mark }: Row, x: number, top: number, width: number): string {
  const left = x + LEFT;
  const base = round(top + height * 0.76);
  switch (kind) {
    case 'rule':
      return `<path class="rule" d="M${left} ${top + 4.5}H${x + width - 10}"/>`;
    case 'start':
      return `<circle class="outside" cx="${left + 5}" cy="${base - 4}" r="4"/>${span('words', left + 16, base, text)}`;
    case 'door':
      return `${mark ? drawMark(mark, left - 1, base - 10) : ''}${span('words', left + 16, base, text)}`;
    default:
      return span(kind, left, base, text);
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;
const span = (kind: string, x: number, y: number, text: string): string =>
  `<text class="${kind}" x="${x}" y="${y}">${xml(text)}</text>`;
