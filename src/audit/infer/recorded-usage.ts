import { getOrInsert } from '../../base/get-or-insert.ts';
import { type Fields, textOf } from '../../base/json.ts';
import { type EffectRecord, toBody } from '../../evidence/bodies.ts';
import { ARGUMENT_ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import type { ArgumentRole, Json, Mode, ToolEffect, ToolSpec } from '../../spec/types.ts';
import type { AuditedPin } from '../rules/audit-state.ts';
import { isFileChange } from '../rules/audited-observations.ts';
import { resolvePathInRoot } from '../rules/audited-path.ts';
import { readCommandWords } from '../rules/commands/audited-words.ts';
import type { EntryOrStoredEntry } from '../verify/session-audit.ts';

export class PeripheralUsage {
  visits = 0;
  mostSteps = 0;
  readonly agents = new Set<string>();
  readonly tools = new Set<string>();
  readonly reads = new Set<string>();
  readonly writes = new Set<string>();
  readonly commands = new Set<string>();
  readonly hosts = new Set<string>();
  readonly resources = new Set<string>();
  /** The hops out of the peripheral, as `exit → to`. */
  readonly exits = new Set<string>();
  /** The peripherals from which hops entered this one. A start counts as null, because it comes from no peripheral. */
  readonly from = new Set<string | null>();
  readonly entered = { first: false, later: false, byOperator: false };
}

/** The actions of sessions, whatever their specs allowed. Refused calls do not count. */
export class RecordedUsages {
  readonly peripherals = new Map<string, PeripheralUsage>();
  readonly transitions = new Set<string>();
  readonly effects = new Map<Mode, Set<ToolEffect>>();
  sessions = 0;

  at(peripheral: string): PeripheralUsage {
    return getOrInsert(this.peripherals, peripheral, () => new PeripheralUsage());
  }
}

/** Adds the actions in a session's entries to `usage`. */
export async function addRecordedUsage(
  usage: RecordedUsages,
  { specs }: AuditedPin,
  entries: AsyncIterable<EntryOrStoredEntry> | Iterable<EntryOrStoredEntry>,
): Promise<void> {
  let root = '/';
  let agent = '';
  let here: PeripheralUsage | null = null;
  let steps = 0;
  let visited = false;
  let from: string | null = null;
  usage.sessions += 1;
  for await (const item of entries) {
    const { body: raw, mode } = 'entry' in item ? item.entry : item;
    const body = toBody(raw);
    switch (body?.event) {
      case 'session-open':
        root = body.root;
        agent = body.agent;
        break;
      case 'start':
        here = usage.at(body.peripheral);
        here.visits += 1;
        here.agents.add(agent);
        here.from.add(from);
        if (from === null) here.entered[visited ? 'later' : 'first'] = true;
        if (body.by === 'operator') here.entered.byOperator = true;
        visited = true;
        steps = 0;
        break;
      case 'step':
      case 'intent': {
        const tool = specs.tools[body.tool];
        if (!here) break;
        here.tools.add(body.tool);
        if (tool && mode) usage.effects.set(mode, (usage.effects.get(mode) ?? new Set()).add(tool.effect));
        for (const { name, role } of tool?.parameters ?? []) addArgument(here, role, root, body.args[name]);
        addCommand(here, tool, body.args);
        if (body.event === 'step') addEffects(here, body.effects);
        if (body.event === 'step') steps += 1;
        here.mostSteps = Math.max(here.mostSteps, steps);
        break;
      }
      case 'outcome':
      case 'interrupted':
        steps += 1;
        if (!here) break;
        here.mostSteps = Math.max(here.mostSteps, steps);
        if (body.event === 'outcome') addEffects(here, body.effects);
        break;
      case 'stop':
        here = null;
        from = null;
        break;
      case 'hop':
        usage.at(body.from).exits.add(`${body.exit} → ${body.to}`);
        from = body.from;
        break;
      case 'mode':
        if (body.how === 'transition') usage.transitions.add(`${body.from} → ${body.to}`);
        break;
      default:
    }
  }
}

function addArgument(here: PeripheralUsage, role: ArgumentRole, root: string, value: Json | undefined): void {
  switch (role) {
    case 'path:read':
    case 'path:write':
      for (const path of [value ?? (ARGUMENT_ROLE_FACTS[role].absentMeansRoot ? '.' : [])].flat()) {
        const found = resolvePathInRoot(root, path);
        if (found.inside) here[role === 'path:read' ? 'reads' : 'writes'].add(found.path === '' ? '.' : found.path);
      }
      break;
    case 'url': {
      const host = value === undefined ? null : URL.parse(String(value))?.host;
      if (host) here.hosts.add(host);
      break;
    }
    case 'resource':
      for (const name of value === undefined ? [] : [value].flat()) here.resources.add(String(name));
      break;
    case 'agency': // Inferred specs keep all delegates.
    case 'command': // addCommand adds the words of a command.
    case 'text':
      break;
    default:
      role satisfies never;
  }
}

/** Adds the command of a call: the words of its arguments, in the order of the parameters. */
function addCommand(here: PeripheralUsage, tool: ToolSpec | undefined, args: Fields): void {
  const values = (tool?.parameters ?? [])
    .filter(({ role }) => ARGUMENT_ROLE_FACTS[role].runsCommands)
    .map(({ name }) => args[name])
    .filter((value) => value !== undefined);
  const words = values.flatMap((value) => readCommandWords(value) ?? [textOf(value) ?? '']);
  if (words.length > 0) here.commands.add(words.join(' '));
}

function addEffects(here: PeripheralUsage, effects: readonly EffectRecord[] | 'unobserved'): void {
  for (const effect of effects === 'unobserved' ? [] : effects) {
    if (isFileChange(effect)) here.writes.add(effect.path);
    else if (effect.op === 'read') here.reads.add(effect.path);
    else if (effect.op === 'resource') here.resources.add(effect.path);
  }
}
