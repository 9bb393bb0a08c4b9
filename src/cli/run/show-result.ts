import { escapeInvisible, excerpt } from '../../base/text.ts';
import type { Denial } from '../../gate/denial.ts';
import { describeWay } from '../../gate/describe-denial.ts';
import type { ScenarioAction } from '../../spec/schema/scenario-file.ts';
import type { Fields, Json } from '../../spec/types.ts';
import { describeValue, shortenValue } from '../../view/describe-value.ts';
import { summariseValue } from '../../view/summarise-value.ts';
import { type Io, paint } from '../io.ts';

/** An action on one line: `read src/a.js`, `hop edit --exit ready-to-edit`. */
export function describeScenarioAction(action: ScenarioAction): string {
  switch (action.verb) {
    case 'mode':
      return `mode ${action.to}${action.reset ? ' (reset)' : ''}`;
    case 'start':
      return `start ${action.peripheral}`;
    case 'step':
      return [
        action.tool,
        ...(Array.isArray(action.args) ? action.args : Object.values(action.args)).map((value) =>
          shortenValue(value as Json, 40),
        ),
      ].join(' ');
    case 'hop':
      return `hop ${action.to}${action.exit ? ` --exit ${action.exit}` : ''}`;
    case 'stop':
      return `stop (${action.reason})`;
    case 'close':
      return 'close';
    default:
      return action satisfies never;
  }
}

/** A denial as text: the problem, and on the next line the remedy. `inWords` rewrites the remedy for its reader. */
export function formatDenial(
  io: Io,
  { code, message, remedy, way }: Denial,
  indent = '      ',
  inWords: (next: string) => string = (next) => next,
): string {
  const next =
    way && way.length > 0 && !remedy.includes(describeWay(way))
      ? `${remedy} Shortest path: ${describeWay(way)}.`
      : remedy;
  return `${indent}${paint(io, 'red', code)}: ${escapeInvisible(message)}\n${indent}${paint(io, 'yellow', '→')} ${escapeInvisible(inWords(next))}`;
}

/** The text about the refusal that a call would have got under enforcement. */
export const formatWouldBeDenial = (
  io: Io,
  denial: Denial,
  indent = '      ',
  inWords?: (next: string) => string,
): string => `${indent}${paint(io, 'yellow', 'would be refused')}\n${formatDenial(io, denial, indent, inWords)}`;

/** `ok`, or `failed` if the tool ran without success. */
export const formatResultStatus = (io: Io, result: object): string =>
  'outcome' in result && result.outcome === 'failed' ? paint(io, 'yellow', 'failed') : paint(io, 'green', 'ok');

const describeFruit = (fruit: Fields): string =>
  Object.entries(fruit)
    .map(([field, value]) => `${field}: ${summariseValue(value)}`)
    .join(' · ');

/** Summarises a tool's result in one line for a person. */
export function summariseToolResult(result: object): string {
  if ('error' in result && result.error) {
    const { code, message } = result.error as { code: string; message: string };
    return `${code}: ${excerpt(message, 600)}`;
  }
  const where = 'to' in result ? `in ${result.to as string}; ` : '';
  if ('fruit' in result) return `${where}fruit ${describeFruit(result.fruit as Fields)}`;
  if ('peripheral' in result) return `in ${result.peripheral as string}`;
  if ('mode' in result) return `mode is ${result.mode as string}`;
  if (!('result' in result)) return '';
  return describeValue(result.result as Json);
}
