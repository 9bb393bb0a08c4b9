import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { ArgumentRole, Json, ToolSpec } from '../spec/types.ts';
import { commandProblem } from './commands.ts';
import { hostProblem } from './hosts.ts';
import { type Fields, isElsewhere, show } from './json.ts';
import type { Ledger, Visit } from './ledger.ts';
import { liesIn, placeOf } from './paths.ts';
import type { Report } from './report.ts';
import { hidden, steers } from './untouchable.ts';

/**
 * Judges a tool call as it was recorded: envelope, mode, limits, arguments and what they reach.
 * @returns what only its outcome can settle: a command or address outside the scope is a breach unless the tool itself refused it
 */
export function judgeCall(ledger: Ledger, visit: Visit, id: string, args: Fields, report: Report): string | null {
  const { specs, config } = ledger.pinned;
  const granted = visit.spec?.tools ?? [];
  if (!granted.includes(id)) {
    report.breach('tool', `tools of ${visit.peripheral}: ${granted.join(', ') || 'none'}`, `${id} was used here`, {
      tool: id,
    });
  }
  const tool = Object.hasOwn(specs.tools, id) ? specs.tools[id] : undefined;
  if (!tool) {
    report.breach('tool', 'the tools of the catalogue', `there is no tool ${id}`, { tool: id });
    return null;
  }
  judgeLimits(ledger, visit, id, report);
  const { gate } = specs;
  if (gate && ledger.mode && !gate.effects[ledger.mode].includes(tool.effect)) {
    const constraint = `${ledger.mode}: ${gate.effects[ledger.mode].join(', ')}`;
    report.breach('mode-effect', constraint, `${id} is a tool to ${tool.effect}`, { tool: id });
  }
  judgeArguments(tool, args, report);
  let outside: string | null = null;
  for (const { name, role } of tool.parameters) {
    if (role === 'text') continue;
    const about = { tool: id, argument: name };
    const value = args[name];
    if (role === 'path:read' || role === 'path:write') {
      const paths = Array.isArray(value) ? value : [value];
      for (const path of paths) {
        const why = pathProblem(ledger, visit, role, path);
        if (why) report.breach('scope', scopeInWords(visit, role), `${show(path)}: ${why}`, about);
      }
    } else if (role === 'command') {
      if (visit.scope.command === 'none' && value !== undefined)
        report.breach('scope', 'command: none', `${show(value)} was run`, about);
    } else if (role === 'url' && value !== undefined) {
      if (visit.scope.url === 'none') report.breach('scope', 'url: none', `${show(value)} was fetched`, about);
      else outside ??= hostProblem(String(value), config.web.allow);
    }
  }
  if (outside === null && runsCommand(visit, tool, args)) {
    const problem = commandProblem(visit.scope.command, id, args, config);
    if (problem === 'unjudged') report.gap('unknown', `nothing says what ${id} may run`, id);
    else outside = problem;
  }
  return outside;
}

/** Whether the scope's rule for commands is asked: where it has one, or where a command runs that nobody had to name. */
const runsCommand = ({ scope }: Visit, { id, parameters }: ToolSpec, args: Fields): boolean =>
  scope.command === 'none'
    ? id === 'bash-test' && args['command'] === undefined
    : parameters.some(({ role }) => role === 'command');

/** A command or an address outside the scope that was not refused. */
export function breachOutside(visit: Visit, tool: string, outside: string, report: Report): void {
  const constraint = `command: ${visit.scope.command}, url: ${visit.scope.url}`;
  report.breach('scope', constraint, `${tool} was let through: ${outside}`, { tool });
}

function judgeLimits({ lastAt }: Ledger, visit: Visit, tool: string, report: Report): void {
  const { limits } = visit.spec ?? {};
  if (limits && limits.steps !== null && visit.steps >= limits.steps) {
    report.breach('limit', `limits: ${limits.steps} steps`, `step ${visit.steps + 1} of the visit`, { tool });
  }
  const late = visit.expired || (visit.deadline !== null && lastAt >= visit.deadline);
  if (late) report.breach('limit', `limits: ${limits?.minutes} minutes`, 'a step after the time had run out', { tool });
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const checks = new WeakMap<object, ValidateFunction>();

function judgeArguments(tool: ToolSpec, args: Fields, report: Report): void {
  for (const name of Object.keys(args)) {
    if (!tool.parameters.some((parameter) => parameter.name === name)) {
      const names = tool.parameters.map((parameter) => parameter.name).join(', ') || 'none';
      report.breach('argument', `parameters: ${names}`, `${tool.id} has no parameter ${name}`, {
        tool: tool.id,
        argument: name,
      });
    }
  }
  for (const { name, required, schema } of tool.parameters) {
    const value = args[name];
    const about = { tool: tool.id, argument: name };
    if (value === undefined) {
      if (required) report.breach('argument', `${name} is required`, 'it is missing', about);
      continue;
    }
    if (isElsewhere(value)) continue;
    let check = checks.get(schema);
    if (!check) {
      check = ajv.compile(schema);
      checks.set(schema, check);
    }
    if (!check(value)) report.breach('argument', `${name}: ${show(schema)}`, `${show(value)} does not fit`, about);
  }
}

/** Why a scope does not let a path be reached; null when it does. A path that is left out is the root. */
function pathProblem(ledger: Ledger, { scope }: Visit, role: ArgumentRole, value: Json | undefined): string | null {
  if (value === undefined) {
    return role === 'path:read' && scope.read !== 'root' ? 'left out, it means the whole tree' : null;
  }
  const place = placeOf(ledger.root, value);
  if (!place.inside) return place.why;
  return role === 'path:write' ? writeProblem(ledger, scope, place.path) : readProblem(ledger, scope, place.path);
}

/** Why a root-relative place may not be changed. */
export function writeProblem(ledger: Ledger, { write }: Visit['scope'], path: string): string | null {
  if (hidden(path, ledger.pinned.config.mask)) return 'it is masked';
  if (steers(path)) return 'it steers git, an editor, an agent or this program';
  return liesIn(path, write) ? null : 'it lies outside the places that may be written';
}

/** Why a root-relative place may not be read. */
export function readProblem(ledger: Ledger, { read }: Visit['scope'], path: string): string | null {
  if (hidden(path, ledger.pinned.config.mask)) return 'it is masked';
  if (read === 'root') return null;
  if (read === 'none') return 'nothing is read here';
  return liesInSet(path, ledger.files) ? null : 'this session has not named it';
}

/** The place itself, or a folder above it, was named. */
function liesInSet(path: string, files: ReadonlySet<string>): boolean {
  if (files.has(path) || files.has('') || files.has('.')) return true;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
    if (files.has(path.slice(0, at))) return true;
  return false;
}

export const scopeInWords = ({ scope }: Visit, role: 'path:read' | 'path:write'): string =>
  role === 'path:read' ? `read: ${scope.read}` : `write: ${scope.write.join(', ') || 'nothing'}`;
