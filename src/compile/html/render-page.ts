import { describeRequirement } from '../../gate/requirements/requirement.ts';
import type {
  ContextRule,
  EntrySource,
  Exit,
  FruitField,
  GateRule,
  PeripheralSpec,
  ScopeRule,
  SpecSet,
} from '../../spec/types.ts';
import { renderSvg } from '../svg/render-svg.ts';
import { schemes } from '../svg/style.ts';
import { xml } from '../svg/text.ts';

/**
 * Renders the hop graph as one HTML page: the drawing and a description of each peripheral. It loads nothing and has no
 * scripts. Ends with a line break.
 */
export async function renderPage(specs: SpecSet, options: { readonly current?: string | null } = {}): Promise<string> {
  const peripherals = Object.values(specs.peripherals);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>The hop graph</title>
<style>${STYLE}</style>
</head>
<body>
<h1>The hop graph</h1>
<p class="soft">${peripherals.length} peripherals, ${specs.edges.length} hops. Spec <code>${specs.hash.slice(0, 12)}</code>.</p>
<figure>
${(await renderSvg(specs, options)).trimEnd()}
</figure>
${peripherals.map((each) => section(specs, each, options.current === each.id)).join('\n')}
</body>
</html>
`;
}

const STYLE = `${schemes(':root')}
body{margin:0 auto;max-width:70rem;padding:2rem 1rem;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}
h1{font-size:1.6rem;margin:0}
h2{font-size:1.15rem;margin:0}
figure{margin:1rem 0 2rem}
figure svg{max-width:100%;height:auto;display:block;margin:0 auto}
section{border:1px solid var(--line);border-radius:10px;padding:1rem 1.2rem;margin:0 0 1rem;background:var(--box)}
section.here{border:3px solid var(--here)}
dl{display:grid;grid-template-columns:6rem 1fr;gap:.25rem 1rem;margin:.6rem 0 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
ul{margin:0;padding:0;list-style:none}
a{color:var(--observe)}
code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.soft{color:var(--soft)}`;

function section(specs: SpecSet, peripheral: PeripheralSpec, here: boolean): string {
  const { id, purpose, tools, scope, entry, exits, context, fruit, limits, agents } = peripheral;
  const rows: [string, string][] = [
    [
      'tools',
      list(
        tools.map(
          (tool) => `${code(tool)} ${soft(specs.tools[tool]?.effect ?? '')} ${xml(specs.tools[tool]?.purpose ?? '')}`,
        ),
      ),
    ],
    ['scope', `${code(scope.name)} ${soft(scopeInWords(scope.rule))}`],
    [
      'entry',
      `${entry.sources.map(sourceName).map(code).join(' or ')}${entry.conditions.map((name) => `, and ${code(name)}`).join('')}`,
    ],
    ['exits', list(exits.map(exitInWords))],
    ['gates', list(gatesInWords(peripheral))],
    ['context', list(Object.entries(context).map(contextInWords))],
    ['fruit', list(Object.entries(fruit).map(fruitInWords))],
    [
      'limits',
      xml(
        [
          limits.steps === null ? [] : `${limits.steps} steps`,
          limits.minutes === null ? [] : `${limits.minutes} minutes`,
        ]
          .flat()
          .join(', '),
      ),
    ],
    ['agents', (agents ?? []).map(code).join(', ')],
  ];
  const shown = rows.filter(([name, text]) => text !== '' || name === 'tools');
  return `<section id="${xml(id)}"${here ? ' class="here"' : ''}>
<h2>${xml(id)}</h2>
<p>${xml(purpose)}</p>
<dl>
${shown.map(([name, text]) => `<dt>${name}</dt><dd>${text === '' ? soft('none') : text}</dd>`).join('\n')}
</dl>
</section>`;
}

const code = (text: string): string => `<code>${xml(text)}</code>`;
const soft = (text: string): string => `<span class="soft">${xml(text)}</span>`;
const list = (items: readonly string[]): string =>
  items.length === 0 ? '' : `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;

const sourceName = (source: EntrySource): string =>
  source.kind === 'from' ? `from-${source.peripheral}` : source.kind;

function exitInWords({ name, opens, implies }: Exit): string {
  const targets = opens.map(
    ({ to, when }) => `<a href="#${xml(to)}">${xml(to)}</a>${when === null ? '' : ` when ${code(when)}`}`,
  );
  const observed = implies === null ? '' : ` ${soft(`only if ${implies.field} is ${implies.value}`)}`;
  return `${code(name)} → ${targets.join(', ')}${observed}`;
}

const gatesInWords = ({ gates }: PeripheralSpec): readonly string[] =>
  Object.entries(gates).flatMap(([to, rules]) =>
    rules.map((rule) => `to <a href="#${xml(to)}">${xml(to)}</a>: ${xml(gateInWords(rule))}`),
  );

const gateInWords = (rule: GateRule): string =>
  describeRequirement(rule.kind === 'approval' ? { ...rule, action: 'hop' } : rule);

function contextInWords([field, { source, optional }]: [string, ContextRule]): string {
  const from = source.kind === 'fruit' ? `from ${source.peripheral}` : source.kind;
  return `${code(field)} ${soft(`${from}${optional ? ', optional' : ''}`)}`;
}

function fruitInWords([field, rule]: [string, FruitField]): string {
  const type = typeof rule.type === 'string' ? rule.type : rule.type.join(', ');
  return `${code(field)} ${soft(`${rule.kind}: ${type}${rule.kind === 'stated' && rule.optional ? ', optional' : ''}`)}`;
}

function scopeInWords({ read, write, command, url }: ScopeRule): string {
  const parts = [`reads ${read}`, write.length === 0 ? 'writes nothing' : `writes ${write.join(', ')}`];
  if (command !== 'none') parts.push(`runs ${command} commands`);
  if (url !== 'none') parts.push('fetches listed hosts');
  return parts.join('; ');
}
