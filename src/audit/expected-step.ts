import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { own } from '../spec/names.ts';
import type { Json, ToolSpec } from '../spec/types.ts';
import { type Asked, type Expected, LAWFUL, refused } from './asked.ts';
import type { Fields } from './json.ts';
import type { Pinned } from './ledger.ts';
import { liesIn, placeOf } from './paths.ts';
import { scopeNow, type Standing } from './standing.ts';
import { hidden, steers } from './untouchable.ts';

/** What a session has to answer to a tool call where it stands: envelope, limits, mode, arguments, and what they reach. */
export function expectedStep(
  pinned: Pinned,
  standing: Standing,
  { tool: id, args }: Extract<Asked, { kind: 'step' }>,
  now: number,
): Expected {
  const { specs } = pinned;
  const { visit } = standing;
  const spec = visit ? own(specs.peripherals, visit.peripheral) : undefined;
  if (!visit || !spec) return refused('no-peripheral', 'a visit to step in');
  const tool = own(specs.tools, id);
  if (!tool) return refused('unknown-tool', 'a tool of the catalogue');
  if (!spec.tools.includes(id)) return refused('tool-not-allowed', `tools: ${spec.tools.join(', ')}`);
  const { steps, minutes } = spec.limits;
  if (steps !== null && visit.steps >= steps) return refused('limit-reached', `limits: ${steps} steps`);
  if (visit.expired || (visit.deadline !== null && now >= visit.deadline))
    return refused('limit-reached', `limits: ${minutes} minutes`);
  const { gate } = specs;
  if (gate && standing.mode && !gate.effects[standing.mode].includes(tool.effect))
    return refused('mode-forbids', `mode ${standing.mode}: ${gate.effects[standing.mode].join(', ')}`);
  const named = namedArguments(tool, args);
  if (!named) return refused('invalid-action', 'the parameters of the tool');
  for (const parameter of tool.parameters) {
    const problem = reachProblem(pinned, standing, parameter.role, named[parameter.name]);
    if (problem) return problem;
  }
  return LAWFUL;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const checks = new WeakMap<object, ValidateFunction>();

/** The arguments by name; null when they are not what the catalogue asks for. */
function namedArguments(tool: ToolSpec, args: Json): Fields | null {
  const pairs: readonly (readonly [string, Json])[] | null = Array.isArray(args)
    ? args.length > tool.parameters.length
      ? null
      : args.map((value, index) => [tool.parameters[index]!.name, value] as const)
    : args !== null && typeof args === 'object'
      ? Object.entries(args)
      : args === null
        ? []
        : null;
  if (!pairs) return null;
  const named = Object.fromEntries(pairs.filter(([, value]) => value !== null));
  if (Object.keys(named).some((name) => !tool.parameters.some((parameter) => parameter.name === name))) return null;
  for (const { name, required, schema } of tool.parameters) {
    const value = named[name];
    if (value === undefined) {
      if (required) return null;
      continue;
    }
    let check = checks.get(schema);
    if (!check) {
      check = ajv.compile(schema);
      checks.set(schema, check);
    }
    if (!check(value)) return null;
  }
  return named;
}

/** What an argument reaches that the scope does not grant. */
function reachProblem(
  pinned: Pinned,
  standing: Standing,
  role: ToolSpec['parameters'][number]['role'],
  value: Json | undefined,
): Expected | null {
  const scope = scopeNow(pinned, standing);
  const out = (rule: string) => refused('out-of-scope', rule);
  switch (role) {
    case 'text':
      return null;
    case 'command':
      return value !== undefined && scope.command === 'none' ? out('scope command: none') : null;
    case 'url':
      return value !== undefined && scope.url === 'none' ? out('scope url: none') : null;
    case 'path:read':
    case 'path:write': {
      if (value === undefined)
        return role === 'path:read' && scope.read !== 'root' ? out(`scope read: ${scope.read}`) : null;
      for (const path of Array.isArray(value) ? value : [value]) {
        const problem = pathProblem(pinned, standing, role, path);
        if (problem) return problem;
      }
      return null;
    }
    default:
      return role satisfies never;
  }
}

function pathProblem(
  pinned: Pinned,
  standing: Standing,
  role: 'path:read' | 'path:write',
  value: Json,
): Expected | null {
  const { config } = pinned;
  const scope = scopeNow(pinned, standing);
  const out = (rule: string) => refused('out-of-scope', rule);
  const place = placeOf(standing.root, value);
  if (!place.inside)
    return place.why.includes('out of the root') ? out('beneath the root') : refused('invalid-action', 'a path');
  if (hidden(place.path, config.mask)) return out('mask');
  if (role === 'path:write') {
    const own = config.specs !== 'default' && liesIn(place.path, [config.specs]);
    if (own || steers(place.path)) return out('nothing that steers');
    return liesIn(place.path, scope.write) ? null : out(`scope write: ${scope.write.join(', ') || 'nothing'}`);
  }
  if (scope.read === 'none') return out('scope read: none');
  if (scope.read === 'session-log' && !standing.files.some((file) => liesIn(place.path, [file])))
    return out('scope read: session-log');
  return null;
}
