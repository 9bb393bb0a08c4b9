const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

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
  none: '#8b949e',
  gate: '#9a6700',
  'gate-label': '#fff8e5',
  held: '#1a7f37',
  here: '#1a7f37',
  'here-box': '#eafbee',
};
const DARK: typeof LIGHT = {
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
  none: '#7d8590',
  gate: '#e3b341',
  'gate-label': '#2b2414',
  held: '#3fb950',
  here: '#3fb950',
  'here-box': '#12261a',
};

const variables = (colours: typeof LIGHT): string =>
  Object.entries(colours)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(';');

/** All rules are scoped to `.hop-graph`, so that the picture can be embedded in a page. */
export const STYLE = `.hop-graph{${variables(LIGHT)};color-scheme:light dark}@media(prefers-color-scheme:dark){.hop-graph{${variables(DARK)}}}
.hop-graph{font-family:${SANS}}
.hop-graph text{fill:var(--text)}
.hop-graph .page{fill:var(--page);stroke:var(--line)}
.hop-graph .box{fill:var(--box);stroke:var(--line);stroke-width:1.25}
.hop-graph .name{font-size:16px;font-weight:650}
.hop-graph .purpose{font-size:11.5px;fill:var(--soft)}
.hop-graph .tools,.hop-graph .exit{font-family:${MONO}}
.hop-graph .tools{font-size:10.5px;fill:var(--effect)}
.hop-graph .exit{font-size:11.5px}
.hop-graph .words,.hop-graph .small{font-size:11px;fill:var(--soft)}
.hop-graph .rule{stroke:var(--line)}
.hop-graph .strip,.hop-graph .dot{fill:var(--effect)}
.hop-graph .observe{--effect:var(--observe)}
.hop-graph .act{--effect:var(--act)}
.hop-graph .coordinate{--effect:var(--coordinate)}
.hop-graph .none{--effect:var(--none)}
.hop-graph .arrow{fill:none;stroke:var(--arrow);stroke-width:1.5}
.hop-graph .head{fill:var(--arrow)}
.hop-graph .label{fill:var(--label);stroke:var(--line)}
.hop-graph .gated .arrow,.hop-graph .bar{stroke:var(--gate);stroke-width:2}
.hop-graph .gated .head{fill:var(--gate)}
.hop-graph .gated .label{fill:var(--gate-label);stroke:var(--gate)}
.hop-graph .mark{fill:none;stroke:var(--soft);stroke-width:1.4;stroke-linecap:round;stroke-linejoin:round}
.hop-graph .mark .full{fill:var(--soft);stroke:none}
.hop-graph .mark.approval{stroke:var(--gate)}
.hop-graph .mark.approval .full{fill:var(--gate)}
.hop-graph .mark.condition,.hop-graph .mark.observed{stroke:var(--held)}
.hop-graph .mark.observed .full{fill:var(--held)}
.hop-graph .outside{fill:var(--faint)}
.hop-graph .around{fill:none;stroke:var(--faint);stroke-width:1.25}
.hop-graph .here .box,.hop-graph .here.around{stroke:var(--here);stroke-width:3;fill:var(--here-box)}
.hop-graph .you{fill:var(--here)}
.hop-graph .you-text{fill:var(--page);font-size:11px;font-weight:650}`;
