import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { getOrInsert } from '../../base/get-or-insert.ts';
import type { Fields } from '../../base/json.ts';
import { gatesOfCall } from '../../spec/call-gates.ts';
import { schemaRegex } from '../../spec/linear-regex.ts';
import { getOwn } from '../../spec/names.ts';
import { ARGUMENT_ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import { INSTALL_TOOL_ID } from '../../spec/policy/command-tools.ts';
import { resourceNameProblem } from '../../spec/policy/resource-names.ts';
import type { Json, ScopeRule, ToolParameter, ToolSpec } from '../../spec/types.ts';
import type { RequestOfKind } from './audit-request.ts';
import type { AuditedVisit, AuditState } from './audit-state.ts';
import { urlRefusalReason } from './audited-hosts.ts';
import { computeObservedFruit } from './audited-observations.ts';
import { isWithinPaths, isWritablePath, resolvePathInRoot } from './audited-path.ts';
import { fitsBranchPattern } from './commands/audited-branches.ts';
import { commandRefusalReason } from './commands/audited-command.ts';
import type { RefusalReason } from './commands/audited-git.ts';
import { shortJson } from './compare-json.ts';
import { stateMeetsRule, toJudgedState } from './judged-state.ts';
import { isMaskedPath, isProtectedPath } from './protected-paths.ts';
import {
  type AddRuleProblem,
  makeProblemCollector,
  NEEDS_HISTORY,
  noVisitProblem,
  type RuleProblem,
} from './rule-problem.ts';

/** The problems of a tool call: its tool, limits, mode and arguments, and the scope's rule for each argument's role. */
export function stepProblems(
  state: AuditState,
  { tool: id, args, approves = false, apart = [] }: RequestOfKind<'step'>,
  now: number,
): readonly RuleProblem[] {
  const { visit, mode } = state;
  const { modeGate, tools } = state.pinned.specs;
  const about = { tool: id };
  if (!visit?.spec)
    return [noVisitProblem('a tool may only be used in a visit', `${id} was used outside of any visit`, about)];
  const { found, add } = makeProblemCollector();
  const tool = getOwn(tools, id);
  if (!tool) add('unknown-tool', 'tool', 'a tool must be in the catalogue', `there is no tool ${id}`, about);
  const granted = visit.spec.tools;
  if (!granted.includes(id)) {
    const constraint = `tools of ${visit.peripheral}: ${granted.join(', ') || 'none'}`;
    add('tool-not-allowed', 'tool', constraint, `${id} was used in ${visit.peripheral}`, about);
  }
  if (!tool) return found;
  const { steps, minutes } = visit.spec.limits;
  const late = visit.expired || (visit.deadline !== null && now >= visit.deadline);
  if (steps !== null && visit.steps >= steps)
    add('limit-reached', 'limit', `limits: ${steps} steps`, `step ${visit.steps + 1} of the visit`, about);
  if (late) {
    const message = 'the step was made after the deadline';
    add('limit-reached', 'limit', `limits: ${minutes} minutes`, message, about);
  }
  const effects = modeGate && mode ? (getOwn(modeGate.effects, mode) ?? []) : null;
  if (effects && !effects.includes(tool.effect)) {
    const constraint = `${mode}: ${effects.join(', ')}`;
    add('mode-forbids', 'mode-effect', constraint, `${id} has the effect ${tool.effect}`, about);
  }
  const given = argumentsByName(tool, args);
  const named = given && withDefaults(tool, given);
  if (!named) {
    add(
      'invalid-action',
      'argument',
      parametersOf(tool),
      `the arguments ${shortJson(args)} do not fit the parameters`,
      about,
    );
    return found;
  }
  addArgumentProblems(tool, named, apart, add);
  // An absent argument reaches nothing, except a path to read, which then means the whole tree.
  let commands = false;
  for (const parameter of tool.parameters) {
    const facts = ARGUMENT_ROLE_FACTS[parameter.role];
    if (facts.runsCommands && !commands) {
      commands = true;
      addCommandProblem(state, visit, tool, named, parameter.name, add);
    }
    if (named[parameter.name] !== undefined || facts.absentMeansRoot)
      addReachProblems(state, visit, id, parameter, named[parameter.name], add);
  }
  // hopgate's own command tools run a command even if their spec declares no parameter for one.
  if (!commands) addCommandProblem(state, visit, tool, named, null, add);
  const lent = tool.parameters.filter(({ role }) => role === 'agency').map(({ name }) => named[name]);
  const lends = visit.scope.agency?.some(({ to, within }) => within === 'own' && lent.includes(to));
  if (lends && effects && !effects.includes('act')) {
    const message = `an agent with tools ran in ${lent.map((each) => shortJson(each)).join(', ')}`;
    add('mode-forbids', 'mode-effect', `${mode}: ${effects.join(', ')}`, message, about);
  }
  const gates = gatesOfCall(tool, visit.spec);
  const fruit = computeObservedFruit(visit.spec, visit.observations);
  for (const gate of gates) {
    if (gate.kind !== 'when' || stateMeetsRule({ ...toJudgedState(state, 'agent'), fruit }, gate.cel, named)) continue;
    const message = `${id} was called although its rule does not hold`;
    add('condition-failed', 'gate', gate.cel, message, { ...about, ...NEEDS_HISTORY });
  }
  if (gates.some(({ kind }) => kind === 'approval') && !approves)
    add('approval-required', 'approval', `${id}: approval`, 'the call was not approved', NEEDS_HISTORY);
  if (id === INSTALL_TOOL_ID && !approves && state.pinned.config.install?.some(({ approval }) => approval))
    add('approval-required', 'approval', 'install: approval', 'the call was not approved', NEEDS_HISTORY);
  return found;
}

const parametersOf = ({ parameters }: ToolSpec): string =>
  `parameters: ${parameters.map(({ name }) => name).join(', ') || 'none'}`;

/** The arguments by name. Returns null if they are neither a list that is short enough, nor an object. */
function argumentsByName({ parameters }: ToolSpec, args: Json): Fields | null {
  if (args === null) return {};
  if (typeof args !== 'object') return null;
  if (!Array.isArray(args) && !Object.values(args).includes(null)) return args;
  if (Array.isArray(args) && args.length > parameters.length) return null;
  const pairs = Array.isArray(args)
    ? args.map((value, index) => [parameters[index]!.name, value] as const)
    : Object.entries(args);
  // null means that an argument is left out, unless null is one of its values (the assignee "nobody" of a tracker).
  const isValue = (name: string) =>
    !Array.isArray(args) &&
    parameters.some(
      (one) => one.name === name && ARGUMENT_ROLE_FACTS[one.role].takesNull && fitsSchema(one.schema, null),
    );
  return Object.fromEntries(pairs.filter(([name, value]) => value !== null || isValue(name)));
}

/** An omitted argument has its default, unless that is null. An empty list of paths to read counts as omitted. */
function withDefaults({ parameters }: ToolSpec, args: Fields): Fields {
  const pairs = parameters.flatMap(({ name, role, schema }) => {
    const isEmpty = (value?: Json) => ARGUMENT_ROLE_FACTS[role].absentMeansRoot && JSON.stringify(value) === '[]';
    const values = [args[name], schema['default'] ?? undefined];
    const value = values.find((each) => each !== undefined && !isEmpty(each));
    return value === undefined ? [] : [[name, value] as const];
  });
  const unknown = Object.entries(args).filter(([name]) => !parameters.some((one) => one.name === name));
  return Object.fromEntries([...pairs, ...unknown]);
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { regExp: schemaRegex } });
const validators = new WeakMap<object, ValidateFunction>();

const fitsSchema = (schema: ToolParameter['schema'], value: Json): boolean =>
  getOrInsert(validators, schema, () => ajv.compile(schema))(value) as boolean;

function addArgumentProblems(tool: ToolSpec, args: Fields, apart: readonly string[], add: AddRuleProblem): void {
  const refuse = (argument: string, constraint: string, message: string) =>
    add('invalid-action', 'argument', constraint, message, { tool: tool.id, argument });
  for (const name in args)
    if (!tool.parameters.some((parameter) => parameter.name === name))
      refuse(name, parametersOf(tool), `${tool.id} has no parameter ${name}`);
  for (const { name, required, schema } of tool.parameters) {
    const value = args[name];
    // A value that is stored as a blob was judged by its schema before it was stored.
    if (value !== undefined && !apart.includes(name) && !fitsSchema(schema, value))
      refuse(name, `${name}: ${shortJson(schema)}`, `${name} is ${shortJson(value)}, which its schema refuses`);
    else if (value === undefined && required) refuse(name, `${name} is required`, `${name} is missing`);
  }
}

/** Judges the arguments that form a command together, and reports a problem for the first of them (`argument`). */
function addCommandProblem(
  { pinned: { config }, root, unsafeNoSandbox }: AuditState,
  { scope, message: due }: AuditedVisit,
  tool: ToolSpec,
  args: Fields,
  argument: string | null,
  add: AddRuleProblem,
): void {
  const reason = commandRefusalReason({ tool, args, scope, config, root, unsafeNoSandbox, message: due });
  if (!reason) return;
  const constraint = `command: ${scope.command}`;
  const message = `${tool.id} was called although its command is not allowed: ${reason.why}`;
  add(reason.code, 'scope', constraint, message, { tool: tool.id, ...(argument === null ? {} : { argument }) });
}

/** Judges an argument by the scope's rule for its role. */
function addReachProblems(
  state: AuditState,
  visit: AuditedVisit,
  tool: string,
  { name, role }: ToolParameter,
  value: Json | undefined,
  add: AddRuleProblem,
): void {
  const { scope } = visit;
  const outside = (constraint: string, message: string) =>
    add('out-of-scope', 'scope', constraint, message, { tool, argument: name });
  switch (role) {
    case 'text':
    case 'command':
      return;
    case 'url': {
      if (scope.url === 'none') outside('url: none', `${shortJson(value)} was fetched`);
      const { allow } = state.pinned.config.web;
      const reason = [value]
        .flat()
        .map((each) => urlRefusalReason(each, allow))
        .find((each) => each !== null);
      if (reason && scope.url !== 'none')
        add(reason.code, 'scope', `url: ${allow.join(', ')}`, reason.why, { tool, argument: name });
      return;
    }
    case 'resource': {
      const patterns = scope.resource ?? [];
      const names = value === undefined ? [] : [value].flat();
      const reason = names.map((each) => resourceRefusalReason(scope, each)).find((each) => each !== null);
      const constraint = `resource: ${patterns.join(', ') || 'none'}`;
      if (reason) add(reason.code, 'scope', constraint, reason.why, { tool, argument: name });
      return;
    }
    case 'agency': {
      const named = scope.agency?.map(({ to }) => to) ?? [];
      if (!named.includes(value as string))
        outside(`agencies: ${named.join(', ') || 'none'}`, `an agent ran in ${shortJson(value)}`);
      return;
    }
    case 'path:read':
    case 'path:write':
      if (value === undefined) {
        if (scope.read !== 'root')
          outside(describeVisitScope(visit, role), 'a path that is left out means the whole tree');
        return;
      }
      for (const path of Array.isArray(value) ? value : [value]) {
        const why = pathProblem(state, visit, role, path);
        if (why)
          add(why.code, 'scope', describeVisitScope(visit, role), `${shortJson(path)}: ${why.why}`, {
            tool,
            argument: name,
            ...why.about,
          });
      }
      return;
    default:
      role satisfies never;
  }
}

/** The reason why a resource is out of a scope; null if it is granted. */
export function resourceRefusalReason({ resource = [] }: ScopeRule, name: Json): PathProblem | null {
  const wrong = typeof name === 'string' ? resourceNameProblem(name) : 'the name is not a string';
  if (wrong !== null)
    return { code: 'invalid-action', why: `${shortJson(name)} is not the name of a resource: ${wrong}` };
  const written = String(name);
  const grants = resource.some((each) => !each.startsWith('!') && fitsBranchPattern(each, written));
  const excludes = resource.some(
    (each) => each.startsWith('!') && fitsBranchPattern(each.slice(1).toLowerCase(), written.toLowerCase()),
  );
  return grants && !excludes ? null : outOfScope(`the scope does not grant ${shortJson(name)}`);
}

interface PathProblem extends RefusalReason {
  readonly about?: Pick<RuleProblem, 'needsHistory'>;
}

const outOfScope = (why: string, about = {}): PathProblem => ({ code: 'out-of-scope', why, about });

function pathProblem(
  state: AuditState,
  visit: AuditedVisit,
  role: 'path:read' | 'path:write',
  value: Json,
): PathProblem | null {
  const found = resolvePathInRoot(state.root, value);
  if (!found.inside) return { code: found.isPath ? 'out-of-scope' : 'invalid-action', why: found.why };
  return role === 'path:write' ? pathWriteProblem(state, visit, found.path) : pathReadProblem(state, visit, found.path);
}

/** @param path relative to the root */
export function pathWriteProblem(
  { pinned: { config } }: AuditState,
  { scope }: AuditedVisit,
  path: string,
): PathProblem | null {
  if (isMaskedPath(path, config.mask)) return outOfScope('the path is masked');
  if (isProtectedPath(path) || (config.specs !== 'default' && isWithinPaths(path, [config.specs])))
    return outOfScope('the file controls git, an editor, an agent or hopgate');
  return isWritablePath(path, scope.write) ? null : outOfScope('the path is outside of the paths that may be written');
}

/** @param path relative to the root */
export function pathReadProblem(
  { pinned, files }: AuditState,
  { scope }: AuditedVisit,
  path: string,
): PathProblem | null {
  if (isMaskedPath(path, pinned.config.mask)) return outOfScope('the path is masked');
  if (scope.read === 'root') return null;
  if (scope.read === 'none') return outOfScope('the scope grants no reading');
  return files.has(path) ? null : outOfScope('no entry of this session names the file', NEEDS_HISTORY);
}

export const describeVisitScope = ({ scope }: AuditedVisit, role: 'path:read' | 'path:write'): string =>
  role === 'path:read' ? `read: ${scope.read}` : `write: ${scope.write.join(', ') || 'nothing'}`;
