import { type AuditedPin, type AuditState, visitScope } from '../../audit/rules/audit-state.ts';
import { isObject } from '../../base/json.ts';
import { gatesOfCall } from '../../spec/call-gates.ts';
import type { Fields, Json, PeripheralSpec, ScopeRule, ToolParameter, ToolSpec } from '../../spec/types.ts';
import { makeSampleArguments, sampleOfSchema } from '../samples/sample-arguments.ts';
import type { Move } from './move.ts';
import { pathsLikelyRefused } from './odd-paths.ts';
import { rotateList } from './rotate-list.ts';

/**
 * A scope that grants an argument of each kind. A generated call takes its arguments from here if the scope of the
 * visit grants none.
 */
const ANY_SCOPE = {
  ...({ read: 'root', write: ['src/'], command: 'contained', url: 'allow-list', resource: ['thing'] } as const),
  agency: [{ to: 'no-such-agency', within: 'parent' }],
} as const satisfies Required<ScopeRule>;

/** Names of members that every JavaScript object inherits; no catalogue and no spec defines them. */
export const INHERITED_MEMBER_NAMES = ['constructor', '__proto__', 'toString'] as const;

const callMove = (tool: string, name: string, args: Json): Move => ({
  name: `? ${tool} ${name}`,
  asked: { kind: 'step', tool, args },
});

export const stepOutsideEnvelope = (tool: ToolSpec, { config }: AuditedPin): Move =>
  callMove(tool.id, 'outside of the envelope', {
    ...makeSampleArguments(tool, { scope: ANY_SCOPE, config, files: [] }),
  });

/**
 * Calls that a rule may refuse in a state: tools outside the envelope, and arguments that are invalid or out of scope.
 * Tools that all rules judge alike are one kind: all invalid calls are made to one tool of it, and one valid call to
 * others.
 * @param sample the maximum number of tools outside the envelope, and of further tools of each kind
 */
export function stepsLikelyRefused(pinned: AuditedPin, state: AuditState, sample = MAX_TOOLS): readonly Move[] {
  const { specs } = pinned;
  const spec = specs.peripherals[state.visit!.peripheral]!;
  const outside = Object.values(specs.tools).filter(({ id }) => !spec.tools.includes(id));
  const at = Object.keys(specs.peripherals).indexOf(spec.id);
  const sampleOf = (tools: readonly ToolSpec[]) => rotateList(tools, at * sample).slice(0, sample);
  const kinds = Map.groupBy(
    spec.tools.flatMap((id) => specs.tools[id] ?? []),
    (tool) => toolKind(spec, tool),
  );
  const seen = new Set<ToolParameter['role']>();
  return [
    ...['no-such-tool', ...INHERITED_MEMBER_NAMES].map((id): Move => callMove(id, 'which does not exist', {})),
    ...sampleOf(outside).map((tool) => stepOutsideEnvelope(tool, pinned)),
    ...[...kinds.values()].flatMap(([first, ...others]) => [
      ...misuseTool(pinned, state, first!, seen),
      ...sampleOf(others).map((tool) => callMove(tool.id, 'with valid arguments', argumentsOf(pinned, state, tool))),
    ]),
  ];
}

/**
 * Maximum number of tools to try in one peripheral; the next tries other tools. Trying all tools in each would take
 * too many calls.
 */
const MAX_TOOLS = 40;

/** Equal for two tools whose calls in a peripheral all rules judge alike. Some rules know a tool by its name. */
function toolKind(spec: PeripheralSpec, tool: ToolSpec): string {
  const { id, effect, parameters, upstream } = tool;
  const isNamed = parameters.some(({ role }) => role === 'command') || gatesOfCall(tool, spec).length > 0;
  const shapes = parameters.map(({ role, schema, required }) => [role, schema, required]);
  return JSON.stringify([isNamed && id, effect, upstream?.folders, shapes]);
}

/** Arguments of a call: those that the scope allows if there are any. */
function argumentsOf({ config }: AuditedPin, state: AuditState, tool: ToolSpec): { [name: string]: Json } {
  const args = makeSampleArguments(tool, { scope: visitScope(state), config, files: [...state.files] });
  return { ...(args ?? makeSampleArguments(tool, { scope: ANY_SCOPE, config, files: [] })) };
}

/** Calls of an available tool that a rule may refuse. Adds the roles of arguments that it tries in full to `seen`. */
function misuseTool(pinned: AuditedPin, state: AuditState, tool: ToolSpec, seen: Set<ToolParameter['role']>): Move[] {
  const { config } = pinned;
  const scope = visitScope(state);
  const most = argumentsOf(pinned, state, tool);
  const many = Array.from({ length: tool.parameters.length + 1 }, () => 'x');
  const moves = [
    callMove(tool.id, 'with valid arguments', most),
    callMove(tool.id, 'with valid arguments as a list', inOrder(tool, most)),
    callMove(tool.id, 'with an unknown argument', { ...most, 'no-such-argument': 1 }),
    callMove(tool.id, 'with too many arguments', many),
    ...['text', 7, true].map((value) => callMove(tool.id, `with ${JSON.stringify(value)}`, value)),
    ...[null, []].map((value) => callMove(tool.id, `with ${JSON.stringify(value)}`, value)),
  ];
  for (const { name, role, required, schema } of tool.parameters) {
    const { [name]: _, ...without } = most;
    if (required || name in most) moves.push(callMove(tool.id, `without ${name}`, without));
    const odd = (values: readonly Json[]) => {
      for (const value of values)
        moves.push(callMove(tool.id, `with ${name} ${JSON.stringify(value)}`, { ...most, [name]: value }));
    };
    // Strings for a command or an address are left out, because the tool itself judges them.
    const oddNoStrings = () => odd(oddValues(schema).filter((value) => typeof value !== 'string'));
    switch (role) {
      case 'path:read':
      case 'path:write': {
        odd(oddValues(schema));
        const paths = pathsLikelyRefused(role, scope, config);
        const listed = schema['type'] === 'array';
        for (const path of seen.has(role) ? paths.slice(0, MAX_REPEATED_PATHS) : paths)
          moves.push(callMove(tool.id, `on ${path.slice(0, 100)}`, { ...most, [name]: listed ? [path] : path }));
        if (listed) {
          const [first] = (Array.isArray(most[name]) ? most[name] : []) as Json[];
          moves.push(
            callMove(tool.id, 'on a list that leads outside', { ...most, [name]: [first ?? 'a.txt', '../outside'] }),
          );
        }
        seen.add(role);
        break;
      }
      case 'command':
        oddNoStrings();
        if (scope.command === 'none') moves.push(callMove(tool.id, 'with a command', { ...most, [name]: 'true' }));
        break;
      case 'url':
        oddNoStrings();
        if (scope.url === 'none')
          moves.push(callMove(tool.id, 'with an address', { ...most, [name]: 'https://example.com/' }));
        break;
      case 'resource':
        odd(oddValues(schema));
        for (const resource of ['no-such-resource', 'a/../b', '*', ''])
          moves.push(callMove(tool.id, `on ${resource || 'nothing'}`, { ...most, [name]: resource }));
        break;
      case 'agency':
      case 'text':
        odd(oddValues(schema));
        break;
      default:
        role satisfies never;
    }
  }
  return moves;
}

/**
 * Maximum number of odd paths for a parameter after another parameter of the same role was tried with all odd paths.
 */
const MAX_REPEATED_PATHS = 6;

const inOrder = ({ parameters }: ToolSpec, args: Fields): Json => parameters.map(({ name }) => args[name] ?? null);

/** Values around the edges of a JSON Schema: other types, beyond bounds, outside lists. Some may be valid. */
function oddValues(schema: Fields): readonly Json[] {
  const { minimum, maximum, items } = schema;
  const bounds = [minimum, maximum].filter((bound) => typeof bound === 'number');
  return [
    { wrong: true },
    ['no', 7],
    'no such value',
    true,
    1.5,
    -1,
    ...bounds.flatMap((bound) => [bound - 1, bound, bound + 1]),
    ...(isObject(items) ? [[sampleOfSchema(items), { wrong: true }]] : []),
  ];
}
