import { fieldsOf, textOf } from '../../base/json.ts';
import { toBody, type WouldBeRefusal } from '../../evidence/bodies.ts';
import { getOwn } from '../../spec/names.ts';
import { ARGUMENT_ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import type { Json, ProjectConfig, SpecSet } from '../../spec/types.ts';
import type { AuditedPin } from '../rules/audit-state.ts';
import { isFileChange } from '../rules/audited-observations.ts';
import { isWritablePath } from '../rules/audited-path.ts';
import type { EntryOrStoredEntry } from '../verify/session-audit.ts';
import { coverPaths } from './path-cover.ts';

/** The calls of one tool in one peripheral that enforcement would have refused for the same reason. */
interface RefusedGroup {
  readonly peripheral: string;
  readonly tool: string;
  readonly code: string;
  readonly calls: number;
  readonly sessions: number;
  /** The message and the suggested path of the last such refusal. */
  readonly message: string;
  readonly remedy: string;
}

/** Settings of hopgate.yaml that allow the observed calls, if the agent hops to the right peripheral first. */
export interface SuggestedSettings {
  /** By peripheral: its present write paths, and the paths written outside of them. Other peripherals are left out. */
  readonly scopes: { readonly [peripheral: string]: readonly string[] };
  /** Hosts that were fetched and are not allowed. */
  readonly hosts: readonly string[];
}

interface Group {
  readonly last: Omit<RefusedGroup, 'calls' | 'sessions'>;
  readonly calls: number;
  readonly sessions: Set<string>;
}

/** Sums up the calls of observe-only sessions. Call `add` once for each session. */
export class WouldRefuseReport {
  readonly #groups = new Map<string, Group>();
  readonly #writes = new Map<string, Set<string>>();
  readonly #hosts = new Set<string>();
  /** The number of observe-only sessions that were added, and of their calls. */
  observed = 0;
  calls = 0;

  async add(
    { specs, config }: AuditedPin,
    sessionId: string,
    entries: AsyncIterable<EntryOrStoredEntry>,
  ): Promise<void> {
    if (config.enforce !== false) return;
    this.observed += 1;
    let running: { readonly tool: string; readonly home: string } | null = null;
    for await (const item of entries) {
      const entry = 'entry' in item ? item.entry : item;
      const body = toBody(entry.body);
      if (body?.event === 'outcome') {
        if (running && body.effects !== 'unobserved')
          for (const effect of body.effects) if (isFileChange(effect)) this.#addWrite(running.home, effect.path);
        running = null;
      }
      if (body?.event === 'denial' && body.enforced === false) {
        this.calls += 1;
        this.#addRefusal(sessionId, entry.peripheral, textOf(body.request['tool']) ?? '', body);
      }
      if (body?.event !== 'step' && body?.event !== 'intent') continue;
      this.calls += 1;
      const { tool, args, wouldRefuse } = body;
      const home = homeOf(specs, tool, entry.peripheral ?? '');
      if (body.event === 'intent') running = { tool, home };
      if (!wouldRefuse) continue;
      for (const host of hostsOf(specs, tool, args)) this.#hosts.add(host);
      this.#addRefusal(sessionId, entry.peripheral, tool, wouldRefuse);
    }
  }

  #addRefusal(sessionId: string, at: string | null, tool: string, refusal: WouldBeRefusal): void {
    const { code, message, remedy } = refusal;
    const last = { peripheral: at ?? '', tool, code, message, remedy };
    const key = JSON.stringify([last.peripheral, tool, code]);
    const { calls, sessions } = this.#groups.get(key) ?? { calls: 0, sessions: new Set<string>() };
    this.#groups.set(key, { last, calls: calls + 1, sessions: sessions.add(sessionId) });
  }

  #addWrite(peripheral: string, path: string): void {
    const paths = this.#writes.get(peripheral) ?? new Set();
    this.#writes.set(peripheral, paths.add(path));
  }

  /** The refusals that enforcement would have given, the most frequent first. */
  get groups(): readonly RefusedGroup[] {
    return [...this.#groups.values()]
      .map(({ last, calls, sessions }) => ({ ...last, calls, sessions: sessions.size }))
      .sort((a, b) => b.calls - a.calls);
  }

  /** The settings that fit the calls. Each written path is added to the peripheral that has the tool. */
  settings(specs: SpecSet, config: ProjectConfig): SuggestedSettings {
    const scopes = [...this.#writes].flatMap(([id, paths]) => {
      const rule = getOwn(specs.peripherals, id)?.scope.rule;
      if (!rule || rule.write.length === 0) return [];
      const present = getOwn(config.scopes, id) ?? rule.write;
      const more = [...paths].filter((path) => !isWritablePath(path, present));
      return more.length === 0 ? [] : [[id, [...present, ...coverPaths(more)]] as const];
    });
    const hosts = [...this.#hosts].filter((host) => !config.web.allow.includes(host)).sort();
    return { scopes: Object.fromEntries(scopes), hosts };
  }
}

/**
 * The peripheral that grants a tool: the present peripheral if it grants the tool, else the first peripheral that does.
 */
function homeOf({ peripherals }: SpecSet, tool: string, here: string): string {
  if (getOwn(peripherals, here)?.tools.includes(tool)) return here;
  return Object.values(peripherals).find(({ tools }) => tools.includes(tool))?.id ?? here;
}

const hostsOf = ({ tools }: SpecSet, tool: string, args: Json): readonly string[] =>
  (getOwn(tools, tool)?.parameters ?? [])
    .filter(({ role }) => ARGUMENT_ROLE_FACTS[role].namesHost)
    .flatMap(({ name }) => URL.parse(String(fieldsOf(args)[name]))?.hostname ?? []);
