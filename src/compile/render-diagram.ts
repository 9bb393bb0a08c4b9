import { type Diagram, type DiagramNode, describeDiagramExit } from './diagram.ts';

/** Renders a Mermaid flowchart with quoted labels. `current` marks the session's peripheral. Pure. */
export function renderMermaid({ id, nodes, edges }: Diagram, current?: string): string {
  const lines = ['---', `title: ${id}`, '---', 'flowchart LR'];
  for (const node of nodes) lines.push(`  ${mermaidId(node.id)}${mermaidShape(node)}`);
  for (const { from, to, ways } of edges) {
    const label = ways.map((exit) => mermaidText(describeDiagramExit(exit))).join('<br/>');
    lines.push(`  ${mermaidId(from)} -->|"${label}"| ${mermaidId(to)}`);
  }
  if (nodes.some((node) => node.id === current))
    lines.push('  classDef current stroke-width:4px', `  class ${mermaidId(current as string)} current`);
  return `${lines.join('\n')}\n`;
}

/** Prefixes ids, because some names are Mermaid keywords (`end`, `subgraph`, `o-…`). Names contain no `_`. */
const mermaidId = (state: string): string => `s_${state.replaceAll('-', '_')}`;

function mermaidShape({ id, initial, final }: DiagramNode): string {
  const text = `"${mermaidText(id)}"`;
  if (initial) return `([${text}])`;
  return final ? `(((${text})))` : `[${text}]`;
}

const ENTITIES: { readonly [character: string]: string } = {
  '"': '#quot;',
  '#': '#35;',
  ';': '#59;',
  '<': '#lt;',
  '>': '#gt;',
  '&': '#amp;',
};
const mermaidText = (text: string): string =>
  text.replaceAll(/["#;<>&]/g, (character) => ENTITIES[character] ?? '').replaceAll(/\s+/g, ' ');

/** Renders Graphviz text. `current` marks the session's peripheral. Pure. */
export function renderDot({ id, nodes, edges }: Diagram, current?: string): string {
  const lines = [`digraph ${quoted(id)} {`, '  rankdir=LR;', '  node [shape=box, style=rounded];'];
  for (const node of nodes) {
    const attributes = [
      ...(node.initial ? ['shape=oval'] : node.final ? ['shape=doublecircle'] : []),
      ...(node.id === current ? ['penwidth=3'] : []),
      ...(node.description === null ? [] : [`tooltip=${quoted(node.description)}`]),
    ];
    lines.push(`  ${quoted(node.id)}${attributes.length > 0 ? ` [${attributes.join(', ')}]` : ''};`);
  }
  for (const { from, to, ways } of edges)
    lines.push(`  ${quoted(from)} -> ${quoted(to)} [label=${quoted(ways.map(describeDiagramExit).join('\n'))}];`);
  return `${lines.join('\n')}\n}\n`;
}

const quoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll(/\r?\n/g, '\\n')}"`;
