import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ViewEdge, ViewGraph, ViewNode, ViewState } from '../view/view-state.ts';

export const effectOfNode = ({ nodes }: ViewGraph, id: string): string =>
  nodes.find((node) => node.id === id)?.effect ?? 'none';

const MARGIN = 14;
/** The smallest scale at which the names of nodes can be read. A graph that does not fit at this scale scrolls. */
const MIN_SCALE = 0.5;

interface GraphProps {
  readonly graph: ViewGraph;
  readonly state: ViewState;
  /** True in the overview, where the graph is a picture whose nodes cannot be selected. */
  readonly small?: boolean;
  readonly onNode?: (node: ViewNode) => void;
}

/** The hop graph. It highlights the session's peripheral, fades earlier ones, and marks open and closed exits. */
export function Graph({ graph, state, small = false, onNode }: GraphProps) {
  const { nodes, edges } = graph;
  const [width, height] = [graph.width + 2 * MARGIN, graph.height + 2 * MARGIN];
  const scroller = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [box, node] = [scroller.current, scroller.current?.querySelector('.here')];
    if (!box || !node) return;
    const [outer, inner] = [box.getBoundingClientRect(), node.getBoundingClientRect()];
    box.scrollBy(
      (inner.left + inner.right - outer.left - outer.right) / 2,
      (inner.top + inner.bottom - outer.top - outer.bottom) / 2,
    );
  }, [state.peripheral]);
  // The number of visits since each peripheral was entered; 1 is the last visit.
  const ages = new Map(state.trail.map(({ peripheral }, index) => [peripheral, state.trail.length - index]));
  const here = state.peripheral ?? 'outside of every peripheral';
  const picture = (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot contain SVG nodes
    <svg
      viewBox={`${-MARGIN} ${-MARGIN} ${width} ${height}`}
      style={small ? {} : { minWidth: `${width * MIN_SCALE}px`, minHeight: `${height * MIN_SCALE}px` }}
      role="group"
      aria-label={`Hop graph. The session is in ${here}.`}
    >
      {edges.map((edge) => (
        <Arrow key={`${edge.from} ${edge.to}`} edge={edge} state={state} />
      ))}
      {nodes.map((node) => (
        <NodeBox key={node.id} node={node} state={state} age={ages.get(node.id)} onNode={small ? undefined : onNode} />
      ))}
    </svg>
  );
  return (
    <div class="graph" ref={small ? null : scroller}>
      {picture}
    </div>
  );
}

const STATUS_ORDER = ['open', 'asks', 'yours', 'closed'] as const;

function Arrow({ edge, state }: { readonly edge: ViewEdge; readonly state: ViewState }) {
  const { from, to, points, exits } = edge;
  if (points.length < 2) return null;
  const options = state.peripheral === from ? state.ways.filter((way) => way.to === to) : [];
  const status = STATUS_ORDER.find((each) => options.some((way) => way.status === each));
  const lit = state.lit.some((leg) => leg.from === from && leg.to === to);
  const [before, end] = points.slice(-2) as [readonly [number, number], readonly [number, number]];
  const angle = (Math.atan2(end[1] - before[1], end[0] - before[0]) * 180) / Math.PI;
  return (
    <g class={`arrow ${status ?? 'far'} ${lit ? 'lit' : ''}`}>
      <title>{`${from} to ${to} by ${exits.join(', ')}${status ? `: ${status}` : ''}`}</title>
      <path d={`M${points.map(([x, y]) => `${x} ${y}`).join('L')}`} />
      <path class="head" d="M1 0L-8 -4.5L-8 4.5z" transform={`translate(${end[0]} ${end[1]}) rotate(${angle})`} />
    </g>
  );
}

interface NodeProps {
  readonly node: ViewNode;
  readonly state: ViewState;
  readonly age: number | undefined;
  readonly onNode: ((node: ViewNode) => void) | undefined;
}

function NodeBox({ node, state, age, onNode }: NodeProps) {
  const { id, x, y, width, height, effect, purpose, tools } = node;
  const isHere = state.peripheral === id;
  const trail = !isHere && age !== undefined ? `trail-${Math.min(age - (state.peripheral === null ? 0 : 1), 4)}` : '';
  const label = `${id}${isHere ? ', the session is here' : ''}: ${purpose}`;
  const choose = onNode && {
    role: 'button' as const,
    // Attributes of SVG are case-sensitive.
    tabindex: 0,
    'aria-label': `${label} Tools: ${tools.join(', ') || 'none'}`,
    onClick: () => onNode(node),
    onMouseEnter: () => onNode(node),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      onNode(node);
    },
  };
  return (
    <g class={`node ${effect ?? 'none'} ${isHere ? 'here' : ''} ${trail}`} {...choose}>
      <title>{label}</title>
      {isHere && <rect class="halo" x={x - 6} y={y - 6} width={width + 12} height={height + 12} rx="14" />}
      <rect class="box" x={x} y={y} width={width} height={height} rx="9" />
      <rect class="strip" x={x} y={y + 8} width="4" height={height - 16} rx="2" />
      <text x={x + width / 2} y={y + height / 2 + 5} text-anchor="middle">
        {id}
      </text>
    </g>
  );
}
