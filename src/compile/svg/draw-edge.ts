import type { Point, Rectangle, Size } from './graph-layout.ts';
import type { MarkedNeed, PictureEdge } from './graph-picture.ts';
import { drawNeedMark } from './need-marks.ts';
import { escapeXml, estimateWidth, wrapWords } from './svg-text.ts';

const LINE = 16;
const SIDE = 7;
const MARK = 15;
const WORDS_WIDTH = 190;

/** One part of a label's line: an exit's name, a mark or words. */
type Piece =
  | { readonly kind: 'exit' | 'words'; readonly text: string }
  | { readonly kind: 'mark'; readonly mark: MarkedNeed['mark'] };
type Line = readonly Piece[];

/** True if the only exit is `hop-<target>`, without needs; the arrow has no label then. */
export const isPlainEdge = ({ to, exits, needs }: PictureEdge): boolean =>
  needs.length === 0 && exits.length === 1 && exits[0]?.name === `hop-${to}` && exits[0].needs.length === 0;

/** Size of an arrow's label; zero if the arrow is plain. */
export function measureEdgeLabel(edge: PictureEdge): Size {
  if (isPlainEdge(edge)) return { width: 0, height: 0 };
  const lines = linesOf(edge);
  return { width: Math.ceil(Math.max(...lines.map(lineWidth))) + 2 * SIDE, height: lines.length * LINE + 6 };
}

/** Draws an arrow with its label: exits and needs. A gate is a bar across the arrow's end. */
export function drawEdge(
  edge: PictureEdge,
  points: readonly Point[],
  label: Rectangle,
): { arrow: string; label: string } {
  const kind = isGated(edge) ? 'edge gated' : 'edge';
  const [before, end] = points.slice(-2);
  const texts = linesOf(edge).map((line, index) => drawLine(line, label.x + SIDE, label.y + 3 + index * LINE));
  const tip = before && end ? drawHead(before, end) + (isGated(edge) ? drawBars(points) : '') : '';
  return {
    arrow: `<g class="${kind}"><path class="arrow" d="${pathOf(points)}"/>${tip}</g>`,
    label: isPlainEdge(edge)
      ? ''
      : `<g class="${kind}"><title>${escapeXml(`${edge.from} to ${edge.to}`)}</title><rect class="label" x="${label.x}" y="${label.y}" width="${label.width}" height="${label.height}" rx="7"/>${texts.join('')}</g>`,
  };
}

const isGated = ({ exits, needs }: PictureEdge): boolean =>
  [...needs, ...exits.flatMap((exit) => exit.needs)].some(({ mark }) => mark === 'approval');

function linesOf({ exits, needs }: PictureEdge): readonly Line[] {
  return [
    ...exits.flatMap((exit): Line[] => {
      const name: Piece[] = [
        ...(exit.observed ? [{ kind: 'mark', mark: 'observed' } as const] : []),
        { kind: 'exit', text: exit.name },
      ];
      const [first, ...others] = exit.needs.flatMap(needLines);
      return [[...name, ...(first ?? [])], ...others];
    }),
    ...needs.flatMap(needLines),
  ];
}

const needLines = ({ mark, words }: MarkedNeed): Line[] =>
  wrapWords(words, { width: WORDS_WIDTH, size: 11, lines: 4 }).map((text, index) =>
    index === 0
      ? [
          { kind: 'mark', mark },
          { kind: 'words', text },
        ]
      : [{ kind: 'words', text: `   ${text}` }],
  );

function pieceWidth(piece: Piece): number {
  if (piece.kind === 'mark') return MARK;
  return piece.kind === 'exit' ? estimateWidth(piece.text, 11.5, 'mono') + 7 : estimateWidth(piece.text, 11);
}
const lineWidth = (line: Line): number => line.reduce((sum, piece) => sum + pieceWidth(piece), 0);

function drawLine(line: Line, left: number, top: number): string {
  let x = left;
  return line
    .map((piece) => {
      const at = Math.round(x);
      x += pieceWidth(piece);
      if (piece.kind === 'mark') return drawNeedMark(piece.mark, at, top + 2);
      return `<text class="${piece.kind}" x="${at}" y="${top + 12}">${escapeXml(piece.text)}</text>`;
    })
    .join('');
}

const CORNER = 7;

/** The SVG path through points: straight segments with rounded corners. */
function pathOf(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      const after = points[index + 1];
      if (!before) return `M${point.x} ${point.y}`;
      if (!after) return `L${pointTowards(point, before, 6)}`;
      const room = Math.min(CORNER, distance(before, point) / 2, distance(point, after) / 2);
      return `L${pointTowards(point, before, room)}Q${point.x} ${point.y} ${pointTowards(point, after, room)}`;
    })
    .join('');
}

const distance = (a: Point, b: Point): number => Math.hypot(b.x - a.x, b.y - a.y);
function pointTowards(from: Point, to: Point, by: number): string {
  const far = distance(from, to) || 1;
  const at = (a: number, b: number) => Math.round((a + ((b - a) * by) / far) * 10) / 10;
  return `${at(from.x, to.x)} ${at(from.y, to.y)}`;
}

const angleOf = (from: Point, to: Point): number =>
  Math.round((Math.atan2(to.y - from.y, to.x - from.x) * 180) / Math.PI);

const drawHead = (before: Point, end: Point): string =>
  `<g transform="translate(${end.x} ${end.y}) rotate(${angleOf(before, end)})"><path class="head" d="M0 0L-9 -4.5L-9 4.5z"/></g>`;

/** Distance of a gate's bars from the arrow's tip and from a corner. A shorter segment has no room for bars. */
const BARS = 16;
const ROOM = 9;

/** Draws a gate: two bars across the last straight segment with room for them. */
function drawBars(points: readonly Point[]): string {
  for (let index = points.length - 1; index > 0; index--) {
    const from = points[index - 1]!;
    const to = points[index]!;
    const length = distance(from, to);
    const last = index === points.length - 1;
    if (length < (last ? BARS + ROOM : 2 * ROOM) && index > 1) continue;
    const at = pointTowards(to, from, last ? Math.min(BARS, length / 2) : length / 2);
    return `<g transform="translate(${at}) rotate(${angleOf(from, to)})"><path class="bar" d="M2 -7V7M-2 -7V7"/></g>`;
  }
  return '';
}
