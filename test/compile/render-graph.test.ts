import { describe, expect, it } from 'vitest';
import { buildDiagram } from '../../src/compile/diagram.ts';
import { compileModeGate } from '../../src/compile/mode-gate.ts';
import { renderDot, renderMermaid } from '../../src/compile/render-diagram.ts';
import { renderGraph } from '../../src/compile/render-graph.ts';
import { CORE, GATE, specSet } from './specs.ts';

const specs = specSet(CORE, GATE);

describe('renderGraph', () => {
  it('draws one Mermaid edge for all exits between two peripherals, with their requirements', () => {
    expect(renderGraph(specs, 'mermaid')).toBe(`---
title: hop-graph
---
flowchart LR
  s_outside(["outside"])
  s_explore["explore"]
  s_edit["edit"]
  s_test["test"]
  s_deploy["deploy"]
  s_reflect["reflect"]
  s_closed((("closed")))
  s_outside -->|"start [default or user-request]"| s_explore
  s_outside -->|"start [user-request]"| s_edit
  s_outside -->|"start [user-request]"| s_test
  s_outside -->|"start [session-close or user-request]"| s_reflect
  s_outside -->|"close"| s_closed
  s_explore -->|"found-target<br/>ready-to-edit"| s_edit
  s_explore -->|"hop-reflect [a successful step since the last review]"| s_reflect
  s_explore -->|"hop-test [user-request]"| s_test
  s_edit -->|"blocked [user-request]"| s_explore
  s_edit -->|"blocked [a successful step since the last review]"| s_reflect
  s_edit -->|"tests-ready"| s_test
  s_test -->|"fail [result is fail]<br/>hop-edit"| s_edit
  s_test -->|"fail [result is fail, a successful step since the last review]<br/>pass [result is pass, a successful step since the last review]"| s_reflect
  s_test -->|"pass [result is pass, tests-passed, approval by operator]"| s_deploy
  s_deploy -->|"deployed [a successful step since the last review]<br/>failed [a successful step since the last review]"| s_reflect
  s_deploy -->|"failed [user-request]"| s_test
  s_reflect -->|"par-generated [user-request]"| s_explore
`);
  });

  it('marks the session’s peripheral, or outside for null; an unknown name marks nothing', () => {
    expect(renderGraph(specs, 'mermaid', { current: 'test' })).toContain('\n  class s_test current\n');
    expect(renderGraph(specs, 'mermaid', { current: null })).toContain('\n  class s_outside current\n');
    expect(renderGraph(specs, 'mermaid', { current: 'nowhere' })).toBe(renderGraph(specs, 'mermaid'));
    expect(renderGraph(specs, 'dot', { current: 'test' })).toContain('"test" [penwidth=3, ');
    expect(JSON.parse(renderGraph(specs, 'json', { current: 'test' }))).toMatchObject({ current: 'test' });
    expect(JSON.parse(renderGraph(specs, 'json'))).toMatchObject({ current: null });
  });

  it('draws the same graph in every format', () => {
    const { nodes, edges } = JSON.parse(renderGraph(specs, 'json')) as {
      nodes: { id: string }[];
      edges: { from: string; to: string }[];
    };
    const dot = renderGraph(specs, 'dot');
    const mermaid = renderGraph(specs, 'mermaid');
    expect(nodes.map(({ id }) => id)).toEqual(['outside', ...Object.keys(CORE), 'closed']);
    for (const { from, to } of edges) {
      expect(dot).toContain(`"${from}" -> "${to}" [label="`);
      expect(mermaid).toContain(`  s_${from} -->|"`);
    }
    expect(dot.match(/ -> /g)).toHaveLength(edges.length);
    expect(mermaid.match(/ -->\|/g)).toHaveLength(edges.length);
  });

  it('escapes special characters of each format', () => {
    const cel = 'fruit.note == "a\\b" && fruit.n < 3; # <b>';
    const odd = specSet({
      subgraph: { entry: ['default'], exits: { out: ['end'] }, gates: { end: [{ kind: 'when', cel }] } },
      end: { entry: ['from-subgraph'], exits: {} },
    });
    expect(renderGraph(odd, 'mermaid')).toContain(
      's_subgraph -->|"out [when fruit.note == #quot;a\\b#quot; #amp;#amp; fruit.n #lt; 3#59; #35; #lt;b#gt;]"| s_end',
    );
    expect(renderGraph(odd, 'dot')).toContain('[label="out [when fruit.note == \\"a\\\\b\\" && fruit.n < 3; # <b>]"]');
  });
});

describe('buildDiagram', () => {
  it('draws reset and timeout as one edge, and omits stops only on request', () => {
    const { edges } = buildDiagram(compileModeGate(GATE));
    expect(edges.find(({ from, to }) => from === 'execute' && to === 'discuss')?.ways).toEqual([
      { name: 'to', needs: ['a summary'] },
      { name: 'reset', needs: ['by operator'] },
      { name: 'timeout', needs: ['by clock'] },
    ]);
  });

  it('draws an empty machine without edges', () => {
    const empty = buildDiagram({ id: 'm', initial: 'a', states: { a: {} } });
    expect(renderMermaid(empty)).toBe('---\ntitle: m\n---\nflowchart LR\n  s_a(["a"])\n');
    expect(renderDot(empty)).toContain('"a" [shape=oval];');
  });
});
