import { CODEX_EVENTS, type CodexHooks, isHopgateCodexHook } from '../../adapters/codex/codex-hook-config.ts';
import { isObject } from '../../base/json.ts';
import { CliError } from '../io.ts';

type Fields = { readonly [key: string]: unknown };

/** The hooks.json with hopgate's hooks last, because Codex identifies each hook by its position in a list. */
interface InstalledHooks {
  readonly text: string;
  /** The position of hopgate's group in each event's list. */
  readonly positions: { readonly [event: string]: number };
}

/**
 * Adds hopgate's hooks to hooks.json, after all others.
 * @param text the current text of the file; null if it does not exist
 * @throws CliError `malformed` if Codex would not accept the file
 */
export function addHopgateHooks(path: string, text: string | null, hopgateHooks: CodexHooks): InstalledHooks {
  const file = parseHooks(path, text);
  const others = withoutOurs(file.hooks);
  const hooks: { [event: string]: readonly unknown[] } = { ...others };
  const indexes: { [event: string]: number } = {};
  for (const event of CODEX_EVENTS) {
    const before = others[event] ?? [];
    indexes[event] = before.length;
    hooks[event] = [...before, ...hopgateHooks[event]];
  }
  return { text: print({ ...file.rest, hooks }, text), positions: indexes };
}

/** Removes hopgate's hooks from hooks.json; null if nothing remains, so that the file can be deleted. */
export function removeHopgateHooks(path: string, text: string): string | null {
  const file = parseHooks(path, text);
  if (!Object.values(file.hooks).some((groups) => groups.some(isOurGroup))) return text;
  const hooks = withoutOurs(file.hooks);
  if (Object.keys(hooks).length > 0) return print({ ...file.rest, hooks }, text);
  return Object.keys(file.rest).length > 0 ? print(file.rest, text) : null;
}

function parseHooks(
  path: string,
  text: string | null,
): { readonly rest: Fields; readonly hooks: { readonly [event: string]: readonly unknown[] } } {
  const parsed = text === null || text.trim() === '' ? {} : parse(path, text);
  if (!isObject(parsed)) throw malformed(path, 'it is not a JSON object');
  const { hooks = {}, ...rest } = parsed;
  if (!isObject(hooks)) throw malformed(path, '"hooks" is not an object');
  for (const [event, groups] of Object.entries(hooks))
    if (!Array.isArray(groups)) throw malformed(path, `"hooks.${event}" is not a list`);
  return { rest, hooks: hooks as { [event: string]: unknown[] } };
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed(path, (cause as Error).message);
  }
}

const malformed = (path: string, why: string): CliError =>
  new CliError('malformed', `${path} is not valid for Codex: ${why}`, 'Correct it, or move it; nothing was changed.');

function withoutOurs(hooks: { readonly [event: string]: readonly unknown[] }): { [event: string]: readonly unknown[] } {
  const others = Object.entries(hooks).map(
    ([event, groups]) => [event, groups.filter((group) => !isOurGroup(group))] as const,
  );
  return Object.fromEntries(others.filter(([, groups]) => groups.length > 0));
}

function isOurGroup(group: unknown): boolean {
  const handlers = isObject(group) && Array.isArray(group['hooks']) ? group['hooks'] : [];
  return handlers.some(
    (handler) => isObject(handler) && typeof handler['command'] === 'string' && isHopgateCodexHook(handler['command']),
  );
}

/** Serializes hooks.json in the indentation of the existing file. */
function print(value: Fields, like: string | null): string {
  const indent = /^([ \t]+)"/m.exec(like ?? '')?.[1] ?? '  ';
  return `${JSON.stringify(value, null, indent)}\n`;
}
