const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/** The colours by name: on a light page, and on a dark one. */
const COLOURS = {
  page: ['#ffffff', '#0d1117'],
  box: ['#ffffff', '#161b22'],
  line: ['#d0d7de', '#3d444d'],
  text: ['#1f2328', '#f0f6fc'],
  soft: ['#59636e', '#9da7b3'],
  faint: ['#8b949e', '#7d8590'],
  arrow: ['#6e7781', '#8b949e'],
  label: ['#f6f8fa', '#1c2128'],
  observe: ['#0969da', '#58a6ff'],
  act: ['#bc4c00', '#f0883e'],
  coordinate: ['#8250df', '#bc8cff'],
  simulate: ['#1b7c83', '#76e3ea'],
  none: ['#8b949e', '#7d8590'],
  gate: ['#9a6700', '#e3b341'],
  'gate-label': ['#fff8e5', '#2b2414'],
  held: ['#1a7f37', '#3fb950'],
  here: ['#1a7f37', '#3fb950'],
  'here-box': ['#eafbee', '#12261a'],
} as const;

/** The rules with colours. They use no CSS variables, because librsvg and other viewers do not know them. */
const colours = (shade: 0 | 1): readonly (readonly [selectors: string, rule: string])[] => [
  ['text', `fill:${COLOURS.text[shade]}`],
  ['.page', `fill:${COLOURS.page[shade]};stroke:${COLOURS.line[shade]}`],
  ['.box', `fill:${COLOURS.box[shade]};stroke:${COLOURS.line[shade]}`],
  ['.purpose,.words,.small', `fill:${COLOURS.soft[shade]}`],
  ...(['observe', 'act', 'coordinate', 'simulate', 'none'] as const).map(
    (effect) => [`.${effect} .tools,.${effect} .strip,.${effect} .dot`, `fill:${COLOURS[effect][shade]}`] as const,
  ),
  ['.rule', `stroke:${COLOURS.line[shade]}`],
  ['.arrow', `stroke:${COLOURS.arrow[shade]}`],
  ['.head', `fill:${COLOURS.arrow[shade]}`],
  ['.label', `fill:${COLOURS.label[shade]};stroke:${COLOURS.line[shade]}`],
  ['.gated .arrow,.bar', `stroke:${COLOURS.gate[shade]}`],
  ['.gated .head,.mark.approval .full', `fill:${COLOURS.gate[shade]}`],
  ['.gated .label', `fill:${COLOURS['gate-label'][shade]};stroke:${COLOURS.gate[shade]}`],
  ['.mark', `stroke:${COLOURS.soft[shade]}`],
  ['.mark .full', `fill:${COLOURS.soft[shade]}`],
  ['.mark.approval', `stroke:${COLOURS.gate[shade]}`],
  ['.mark.approval .full', `fill:${COLOURS.gate[shade]}`],
  ['.mark.condition,.mark.observed', `stroke:${COLOURS.held[shade]}`],
  ['.mark.observed .full', `fill:${COLOURS.held[shade]}`],
  ['.outside', `fill:${COLOURS.faint[shade]}`],
  ['.around', `stroke:${COLOURS.faint[shade]}`],
  ['.here .box,.here.around', `stroke:${COLOURS.here[shade]};fill:${COLOURS['here-box'][shade]}`],
  ['.you', `fill:${COLOURS.here[shade]}`],
  ['.you-text', `fill:${COLOURS.page[shade]}`],
];

/** All rules are scoped to `.hop-graph`, so that the picture can be embedded in a page. */
const scopedRules = (rules: readonly (readonly [selectors: string, rule: string])[]): string =>
  rules
    .map(
      ([selectors, rule]) =>
        `${selectors
          .split(',')
          .map((each) => `.hop-graph ${each}`)
          .join(',')}{${rule}}`,
    )
    .join('\n');

const SHAPES: readonly (readonly [selectors: string, rule: string])[] = [
  ['.box', 'stroke-width:1.25'],
  ['.name', 'font-size:16px;font-weight:650'],
  ['.purpose,.exit', 'font-size:11.5px'],
  ['.tools,.exit', `font-family:${MONO}`],
  ['.tools', 'font-size:10.5px'],
  ['.words,.small,.you-text', 'font-size:11px'],
  ['.arrow', 'fill:none;stroke-width:1.5'],
  ['.gated .arrow,.bar', 'stroke-width:2'],
  ['.mark', 'fill:none;stroke-width:1.4;stroke-linecap:round;stroke-linejoin:round'],
  ['.mark .full', 'stroke:none'],
  ['.around', 'fill:none;stroke-width:1.25'],
  ['.here .box,.here.around', 'stroke-width:3'],
  ['.you-text', 'font-weight:650'],
];

export const SVG_STYLE = `.hop-graph{font-family:${SANS};color-scheme:light dark}
${scopedRules(SHAPES)}
${scopedRules(colours(0))}
@media(prefers-color-scheme:dark){
${scopedRules(colours(1))}
}`;
