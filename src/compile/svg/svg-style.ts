const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

type Colours = { readonly [name in keyof typeof LIGHT]: string };

const LIGHT = {
  page: '#ffffff',
  box: '#ffffff',
  line: '#d0d7de',
  text: '#1f2328',
  soft: '#59636e',
  faint: '#8b949e',
  arrow: '#6e7781',
  label: '#f6f8fa',
  observe: '#0969da',
  act: '#bc4c00',
  coordinate: '#8250df',
  simulate: '#1b7c83',
  none: '#8b949e',
  gate: '#9a6700',
  'gate-label': '#fff8e5',
  held: '#1a7f37',
  here: '#1a7f37',
  'here-box': '#eafbee',
};
const DARK: Colours = {
  page: '#0d1117',
  box: '#161b22',
  line: '#3d444d',
  text: '#f0f6fc',
  soft: '#9da7b3',
  faint: '#7d8590',
  arrow: '#8b949e',
  label: '#1c2128',
  observe: '#58a6ff',
  act: '#f0883e',
  coordinate: '#bc8cff',
  simulate: '#76e3ea',
  none: '#7d8590',
  gate: '#e3b341',
  'gate-label': '#2b2414',
  held: '#3fb950',
  here: '#3fb950',
  'here-box': '#12261a',
};

/** The rules with colours. Without CSS variables, because librsvg and other viewers do not know them. */
const colours = (of: Colours): readonly (readonly [selectors: string, rule: string])[] => [
  ['text', `fill:${of.text}`],
  ['.page', `fill:${of.page};stroke:${of.line}`],
  ['.box', `fill:${of.box};stroke:${of.line}`],
  ['.purpose,.words,.small', `fill:${of.soft}`],
  ...(['observe', 'act', 'coordinate', 'simulate', 'none'] as const).map(
    (effect) => [`.${effect} .tools,.${effect} .strip,.${effect} .dot`, `fill:${of[effect]}`] as const,
  ),
  ['.rule', `stroke:${of.line}`],
  ['.arrow', `stroke:${of.arrow}`],
  ['.head', `fill:${of.arrow}`],
  ['.label', `fill:${of.label};stroke:${of.line}`],
  ['.gated .arrow,.bar', `stroke:${of.gate}`],
  ['.gated .head,.mark.approval .full', `fill:${of.gate}`],
  ['.gated .label', `fill:${of['gate-label']};stroke:${of.gate}`],
  ['.mark', `stroke:${of.soft}`],
  ['.mark .full', `fill:${of.soft}`],
  ['.mark.approval', `stroke:${of.gate}`],
  ['.mark.approval .full', `fill:${of.gate}`],
  ['.mark.condition,.mark.observed', `stroke:${of.held}`],
  ['.mark.observed .full', `fill:${of.held}`],
  ['.outside', `fill:${of.faint}`],
  ['.around', `stroke:${of.faint}`],
  ['.here .box,.here.around', `stroke:${of.here};fill:${of['here-box']}`],
  ['.you', `fill:${of.here}`],
  ['.you-text', `fill:${of.page}`],
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
${scopedRules(colours(LIGHT))}
@media(prefers-color-scheme:dark){
${scopedRules(colours(DARK))}
}`;
