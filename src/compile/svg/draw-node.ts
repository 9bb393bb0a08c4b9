import type { Rectangle, Size } from './graph-layout.ts';
import type { PictureNode } from './graph-picture.ts';
import { drawNeedMark } from './need-marks.ts';
import { escapeXml, estimateWidth, wrapWords } from './svg-text.ts';

const WIDTH = 206;
const LEFT = 16;
const RIGHT = 10;

interface Row {
  readonly kind: 'name' | 'purpose' | 'tools' | 'rule' | 'start' | 'entry-need' | 'more';
  readonly text: string;
  readonly height: number;
  readonly mark?: Parameters<typeof drawNeedMark>[0];
}

export function measureNode(node: PictureNode): Size {
  const width = Math.max(WIDTH, Math.ceil(estimateWidth(node.id, 16) * 1.1) + LEFT + RIGHT);
  return { width, height: contentHeight(rowsOf(node, width)) + 16 };
}

const contentHeight = (rows: readonly Row[]): number => rows.reduce((sum, { height }) => sum + height, 0);

/** Draws a peripheral as a box: name, purpose, tools, how it starts, and the common needs of all hops to it. */
export function drawNode(node: PictureNode, { x, y, width, height }: Rectangle, isCurrent: boolean): string {
  const parts = [
    `<title>${escapeXml(`${node.id}: ${node.purpose}`)}</title>`,
    `<rect class="box" x="${x}" y="${y}" width="${width}" height="${height}" rx="9"/>`,
    `<path class="strip" d="M${x + 9} ${y}h-1a8 8 0 0 0 -8 8v${height - 16}a8 8 0 0 0 8 8h1a4 4 0 0 1 -4 -4v${8 - height}a4 4 0 0 1 4 -4z"/>`,
  ];
  const rows = rowsOf(node, width);
  let top = y + Math.round((height - contentHeight(rows)) / 2);
  for (const row of rows) {
    parts.push(drawRow(row, x, top, width));
    top += row.height;
  }
  if (isCurrent) {
    parts.push(
      `<rect class="you" x="${x + width - 54}" y="${y - 9}" width="44" height="18" rx="9"/>`,
      `<text class="you-text" x="${x + width - 32}" y="${y + 4}" text-anchor="middle">here</text>`,
    );
  }
  return `<g class="node ${node.effect ?? 'none'}${isCurrent ? ' here' : ''}">${parts.join('')}</g>`;
}

function rowsOf(node: PictureNode, width: number): readonly Row[] {
  const inner = width - LEFT - RIGHT;
  const lines = (kind: Row['kind'], text: string, size: number, count: number): Row[] =>
    wrapWords(text, { width: inner, size, lines: count, font: kind === 'tools' ? 'mono' : 'sans' }).map((line) => ({
      kind,
      text: line,
      height: size + 3.5,
    }));
  const below = (text: string, first: Pick<Row, 'kind' | 'mark'>): Row[] =>
    wrapWords(text, { width: inner - 16, size: 11, lines: 3 }).map((line, index) => ({
      ...(index === 0 ? first : { kind: 'more' }),
      text: line,
      height: 17,
    }));
  const foot = [
    ...(node.start === null ? [] : below(`start: ${node.start}`, { kind: 'start' })),
    ...node.entryNeeds.flatMap(({ mark, words }) => below(`hop in: ${words}`, { kind: 'entry-need', mark })),
  ];
  const rows = [
    { kind: 'name', text: node.id, height: 22 } as const,
    ...lines('purpose', node.purpose, 11.5, 4),
    ...lines('tools', node.tools.length === 0 ? 'no tools' : node.tools.join(' '), 10.5, 6),
  ];
  return foot.length === 0 ? rows : [...rows, { kind: 'rule', text: '', height: 8 }, ...foot];
}

function drawRow({ kind, text, height, mark }: Row, x: number, top: number, width: number): string {
  const left = x + LEFT;
  const base = round(top + height * 0.76);
  switch (kind) {
    case 'rule':
      return `<path class="rule" d="M${left} ${top + 4.5}H${x + width - 10}"/>`;
    case 'start':
      return `<circle class="outside" cx="${left + 5}" cy="${base - 4}" r="4"/>${span('words', left + 16, base, text)}`;
    case 'entry-need':
      return `${mark ? drawNeedMark(mark, left - 1, base - 10) : ''}${span('words', left + 16, base, text)}`;
    case 'more':
      return span('words', left + 16, base, text);
    default:
      return span(kind, left, base, text);
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;
const span = (kind: string, x: number, y: number, text: string): string =>
  `<text class="${kind}" x="${x}" y="${y}">${escapeXml(text)}</text>`;
