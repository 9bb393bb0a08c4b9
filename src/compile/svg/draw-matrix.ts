import { shorten } from '../../base/text.ts';
import type { Picture, PictureEdge } from './picture.ts';
import { xml } from './text.ts';

/** With more nodes, arrows are unreadable and take minutes to lay out. */
const MANY_NODES = 60;
const MANY_ARROWS = 240;

export const isThicket = ({ nodes, edges }: Picture): boolean =>
  nodes.length > MANY_NODES || edges.length > MANY_ARROWS;

const CELL = 10;
const LONGEST = 22;
const MARGIN = 24;
const LINE = 22;
const LETTER = 5;

type Kind = 'plain' | 'needy' | 'gated';
const WORDS: { readonly [kind in Kind]: string } = {
  plain: 'a hop',
  needy: 'a hop that needs something',
  gated: 'a hop that a person approves',
};

function kindOf({ ways, needs }: PictureEdge): Kind {
  const all = [...needs, ...ways.flatMap((way) => way.needs)];
  if (all.some(({ mark }) => mark === 'approval')) return 'gated';
  return all.length > 0 || ways.every(({ observed }) => observed) ? 'needy' : 'plain';
}

/** Draws a large graph as a table: a cell is a hop from the row's peripheral to the column's. */
export function drawMatrix(
  { nodes, edges }: Picture,
  current: string | null | undefined,
): { readonly width: number; readonly height: number; readonly words: string; readonly svg: string } {
  const at = new Map(nodes.map(({ id }, index) => [id, index]));
  const label = Math.min(LONGEST, Math.max(...nodes.map(({ id }) => id.length))) * LETTER + 8;
  const side = nodes.length * CELL;
  const here = current === null || current === undefined ? undefined : at.get(current);
  const cells = Map.groupBy(edges, kindOf);
  const squares = (['plain', 'needy', 'gated'] as const).flatMap((kind) => {
    const drawn = (cells.get(kind) ?? []).map(
      ({ from, to }) => `M${(at.get(to) ?? 0) * CELL + 1} ${(at.get(from) ?? 0) * CELL + 1}h8v8h-8z`,
    );
    return drawn.length === 0 ? [] : [`<path class="cell ${kind}" d="${drawn.join('')}"/>`];
  });
  const rules = Array.from({ length: Math.floor(nodes.length / 10) + 1 }, (_, index) => index * 10 * CELL);
  const names = nodes.flatMap(({ id, effect }, index) => {
    const middle = index * CELL + 8;
    const text = `<title>${xml(id)}</title>${xml(shorten(id, LONGEST))}`;
    const kind = `tiny ${effect ?? 'none'}`;
    return [
      `<text class="${kind}" text-anchor="end" x="-5" y="${middle}">${text}</text>`,
      `<text class="${kind}" transform="translate(${middle} -5) rotate(-90)">${text}</text>`,
    ];
  });
  const legend = (['plain', 'needy', 'gated'] as const)
    .filter((kind) => cells.has(kind))
    .map(
      (kind, index) =>
        `<path class="cell ${kind}" d="M0 ${index * LINE}h10v10h-10z"/><text class="small" x="18" y="${index * LINE + 10}">${WORDS[kind]}</text>`,
    );
  const width = Math.max(side + label, 420) + 2 * MARGIN;
  const words = `${nodes.length} peripherals, ${edges.length} hops between them: row → column`;
  const body = `<text class="name" x="${MARGIN}" y="38">${xml(words)}</text>
<g transform="translate(${MARGIN + label} ${MARGIN + 36 + label})">
${here === undefined ? '' : `<path class="here-row" d="M${-label} ${here * CELL}H${side}v${CELL}H${-label}z"/>\n`}<path class="rule" d="${rules.map((by) => `M0 ${by}H${side}M${by} 0V${side}`).join('')}"/>
${[...squares, ...names].join('\n')}
</g>
<g class="legend" transform="translate(${MARGIN} ${MARGIN + 36 + label + side + MARGIN})">
${legend.join('\n')}
</g>`;
  return { width, height: MARGIN * 3 + 36 + label + side + legend.length * LINE, words, svg: body };
}
