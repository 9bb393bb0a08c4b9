import { resolve } from 'node:path';
import { toShellWord } from '../../../base/text.ts';
import { locatePath } from '../../../gate/scope/locate-path.ts';
import type { HopOptions, ShortHop } from '../../../session/short-hop.ts';
import { getOwn } from '../../../spec/names.ts';
import type { Fields, Json } from '../../../spec/types.ts';
import { type ClientProvider, type ClientToolTranslation, translateClientTool } from './client-tools.ts';
import {
  type ModeCallArguments,
  type ModelCallArguments,
  readCallArguments,
  readRequestedHop,
  readRequestedMode,
} from './control-calls.ts';
import {
  findUpstreamTool,
  type HopgateServerName,
  isMcpToolName,
  parseHopgateToolName,
  userChosenServerName,
} from './mcp-name.ts';
import { type PatchFile, parsePatch } from './patch.ts';
import { routeShellCommand, type ShellRoutingContext } from './shell-route.ts';

export interface ActionContext extends ShellRoutingContext {
  /** Absolute real path of the repository. */
  readonly root: string;
  /** The client's working folder, which relative paths and commands start from. Default: the root. */
  readonly cwd?: string;
  /** hopgate's own MCP server as the client names it. Default: the server `hopgate`. */
  readonly own?: HopgateServerName;
}

/** A call of a hopgate tool, which the gate decides. */
export interface HopgateToolCall {
  readonly tool: string;
  readonly args: Fields;
}

/** One file operation or one command of a client's call. */
export interface ActionStep extends HopgateToolCall {
  /**
   * With `native`, the client may run the step, between `admit` and `conclude`. With `contained`, only hopgate's run
   * command may run it, as a `step`. With `hopgate`, the client calls hopgate's own MCP server, which decides
   * and runs the step.
   */
  readonly how: 'native' | 'contained' | 'hopgate';
  /** Arguments for which hopgate's tool has no parameter, such as display options and timeouts. */
  readonly extra: Fields;
  /** The equivalent calls of hopgate's tools; null if only the client can carry out the step. */
  readonly byHopgate: readonly HopgateToolCall[] | null;
}

/** The meaning of a client's tool call. The union is closed: any other call is `unmapped` and must be refused. */
export type ClientAction =
  | { readonly kind: 'steps'; readonly steps: readonly ActionStep[] }
  | { readonly kind: 'hop'; readonly hop: HopOptions | ShortHop }
  | { readonly kind: 'mode'; readonly mode: ModeCallArguments }
  /** The client asks hopgate about the session. */
  | { readonly kind: 'ask'; readonly control: 'status' | 'why'; readonly input: ModelCallArguments }
  /** The client's own bookkeeping, without effect on the world. */
  | { readonly kind: 'inner' }
  /** Must be refused; `why` completes "the tool …", null if the tool is unknown. */
  | { readonly kind: 'unmapped'; readonly why: string | null };

/**
 * Translates a client program's tool call into an action. Pure and total: any input gives an answer. It decides
 * nothing: arguments stay unchanged (except that paths within the root become relative to it), and a tool that is not
 * available becomes a step that the gate refuses.
 *
 * @example
 * const call = { provider: 'claude-code', name: 'Read', input: { file_path: '/repo/src/a.ts' } } as const;
 * toolCallToAction(call, { specs, config, peripheral: 'explore', mode: 'diagnose', root: '/repo' });
 * // { kind: 'steps', steps: [{ tool: 'read', args: { path: 'src/a.ts' }, how: 'native', … }] }
 */
export function toolCallToAction(
  call: { readonly provider: ClientProvider; readonly name: string; readonly input: unknown },
  context: ActionContext,
): ClientAction {
  const name = typeof call.name === 'string' ? call.name : '';
  const tool = parseHopgateToolName(name, context.own ?? userChosenServerName('hopgate'));
  if (tool !== null) return ownAction(tool, call.input, context);
  if (isMcpToolName(name)) return mcpAction(name, call.input, context);
  const builtIn = translateClientTool(call.provider, name);
  if (!builtIn) return { kind: 'unmapped', why: null };
  return builtInAction(builtIn, call.input, context);
}

function ownAction(tool: string, input: unknown, { specs }: ActionContext): ClientAction {
  const fields = readCallArguments(input);
  if (tool === 'hop') return { kind: 'hop', hop: readRequestedHop(fields) };
  if (tool === 'mode') return { kind: 'mode', mode: readRequestedMode(fields) };
  if (tool === 'status' || tool === 'why') return { kind: 'ask', control: tool, input: fields };
  if (!getOwn(specs.tools, tool)) return { kind: 'unmapped', why: null };
  return stepsAction(stepOf({ tool, args: fields }, 'hopgate'));
}

/** A tool of another MCP server: hopgate runs it if a spec names it. */
function mcpAction(name: string, input: unknown, { specs }: ActionContext): ClientAction {
  const tool = findUpstreamTool(name, specs);
  if (!tool) return { kind: 'unmapped', why: 'belongs to an MCP server that no spec names' };
  const names = new Map(tool.parameters.map((parameter) => [parameter.as ?? parameter.name, parameter.name]));
  const args = Object.fromEntries(
    Object.entries(readCallArguments(input)).map(([key, value]) => [names.get(key) ?? key, value]),
  );
  return stepsAction(stepOf({ tool: tool.id, args }, 'contained'));
}

function builtInAction(builtIn: ClientToolTranslation, input: unknown, context: ActionContext): ClientAction {
  const fields = readCallArguments(input);
  switch (builtIn.kind) {
    case 'inner':
      return { kind: 'inner' };
    case 'outside':
      return { kind: 'unmapped', why: builtIn.why };
    case 'same': {
      const { args, extra } = renameArguments(fields, builtIn.as, context);
      const isSearch = builtIn.tool === 'glob' || builtIn.tool === 'grep';
      // A search that names no folder starts in the client's working folder.
      const folder = isSearch && (args['path'] ?? null) === null ? rootRelative('.', context) : '.';
      const all = { ...builtIn.fixed, ...args, ...(folder === '.' ? {} : { path: folder }) };
      return stepsAction(stepOf({ tool: builtIn.tool, args: all }, builtIn.how, extra));
    }
    case 'multi-edit':
      return multiEdit(fields, context);
    case 'notebook': {
      const { args, extra } = renameArguments(fields, { notebook_path: 'path', new_source: 'new' }, context);
      return stepsAction({ tool: 'edit', args: { old: '', new: '', ...args }, how: 'native', extra, byHopgate: null });
    }
    case 'shell':
      return shellAction(builtIn, fields, context);
    case 'patch':
      return patchAction(input, fields, context);
    case 'search':
      return searchAction(fields, context);
    default:
      return builtIn satisfies never;
  }
}

const stepsAction = (...all: readonly ActionStep[]): ClientAction => ({ kind: 'steps', steps: all });

/** A step that one call of a hopgate tool can carry out. */
const stepOf = (call: HopgateToolCall, how: ActionStep['how'], extra: ActionStep['extra'] = {}): ActionStep => ({
  ...call,
  how,
  extra,
  byHopgate: [call],
});

/** Renames the arguments to those of hopgate's tool; the others go to `extra`. */
function renameArguments(
  fields: ModelCallArguments,
  as: { readonly [argument: string]: string },
  context: ActionContext,
) {
  const names = new Map(Object.entries(as));
  const args: [string, Json][] = [];
  const extra: [string, Json][] = [];
  for (const [key, value] of Object.entries(fields)) {
    const name = names.get(key);
    if (name === undefined) extra.push([key, value]);
    else args.push([name, name === 'path' ? rootRelative(value, context) : value]);
  }
  return { args: Object.fromEntries(args), extra: Object.fromEntries(extra) };
}

/** The path relative to the root; absolute if outside. Another value stays unchanged. The gate refuses both. */
function rootRelative(path: Json, { root, cwd = root }: ActionContext): Json {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) return path;
  const absolute = resolve(cwd, path);
  const located = locatePath(root, absolute);
  return located.ok ? located.path : absolute;
}

function multiEdit(fields: ModelCallArguments, context: ActionContext): ClientAction {
  const { args, extra } = renameArguments(fields, { file_path: 'path' }, context);
  const { edits, ...rest } = extra;
  const each = (Array.isArray(edits) ? edits : []).map((edit) => {
    const { old_string: old = '', new_string: text = '', replace_all: all } = readCallArguments(edit);
    return { tool: 'edit', args: { ...args, old, new: text, ...(all === undefined ? {} : { all }) } };
  });
  return stepsAction(editOfFile(args, each, rest));
}

/** Joins several edits of one file into one step, because the client makes them together. */
function editOfFile(path: Fields, edits: readonly HopgateToolCall[], extra: ActionStep['extra']): ActionStep {
  const [first] = edits;
  const joined = (name: string) => edits.map(({ args }) => String(args[name])).join('\n');
  const args = edits.length === 1 && first ? first.args : { ...path, old: joined('old'), new: joined('new') };
  // The tool `edit` of hopgate needs the old text.
  const hasOldTexts = edits.length > 0 && edits.every(({ args }) => args['old'] !== '');
  return { tool: 'edit', args, how: 'native', extra, byHopgate: hasOldTexts ? edits : null };
}

function shellAction(
  { command, folder, patches }: Extract<ClientToolTranslation, { kind: 'shell' }>,
  fields: ModelCallArguments,
  context: ActionContext,
): ClientAction {
  const key = command.find((name) => Object.hasOwn(fields, name));
  const value = key === undefined ? undefined : fields[key];
  const where = folderOf(folder === null ? undefined : fields[folder], context);
  const extra = Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key && name !== folder));
  const line = commandLine(value);
  const [, inside = '.', , , patch] = (patches && PATCH_COMMAND.exec(line ?? '')) || [];
  if (patch !== undefined) {
    const action = patchAction(patch, {}, { ...context, cwd: resolve(where, inside) });
    // The client runs no part of a shell command itself.
    return action.kind === 'steps'
      ? stepsAction(...action.steps.map((step) => ({ ...step, how: 'contained' as const })))
      : action;
  }
  const call =
    line === null ? routeCommandless(value, context) : routeShellCommand(inFolder(line, where, context), context);
  return stepsAction(stepOf(call, 'contained', extra));
}

/** A command that gives a patch to `apply_patch` as a here-document, also in another folder. */
const PATCH_COMMAND = /^\s*(?:cd\s+([\w./-]+)\s*&&\s*)?apply_patch\s*<<-?\s*(["']?)(\w+)\2[^\S\n]*\n([\s\S]*?)\n\3\s*$/;

/** Sends a value that is not a command to the tool that takes commands, so that the gate says what is wrong. */
function routeCommandless(command: Json | undefined, context: ActionContext): HopgateToolCall {
  const { tool, args } = routeShellCommand('', context);
  return {
    tool,
    args: command === undefined ? {} : Object.fromEntries(Object.keys(args).map((name) => [name, command])),
  };
}

/** The command as one line: a text unchanged, a list of words quoted for the shell, or the script of a `bash -c`. */
function commandLine(command: Json | undefined): string | null {
  if (typeof command === 'string') return command;
  if (!Array.isArray(command) || command.length === 0) return null;
  const words = command.filter((word) => typeof word === 'string');
  if (words.length !== command.length) return null;
  const [shell = '', flag = '', script] = words;
  if (words.length === 3 && script !== undefined && /(?:^|\/)(?:ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(flag))
    return script;
  return words.map(toShellWord).join(' ');
}

/** The command line with a `cd` to the working folder in front, because hopgate runs commands from the root. */
function inFolder(line: string, folder: string, { root }: ActionContext): string {
  if (folder === resolve(root)) return line;
  const located = locatePath(root, folder);
  return `cd -- ${toShellWord(located.ok ? located.path : folder)} || exit\n${line}`;
}

/** The absolute path of the folder that a command runs in. */
const folderOf = (where: Json | undefined, { root, cwd = root }: ActionContext): string =>
  resolve(cwd, typeof where === 'string' ? where : '');

/** Translates a web search into a call of the tool that the operator bound to the search of an MCP server. */
function searchAction({ query = '' }: ModelCallArguments, { specs, peripheral }: ActionContext): ClientAction {
  const here = specs.peripherals[peripheral ?? '']?.tools ?? [];
  const tool = [...here, ...Object.keys(specs.tools)]
    .map((id) => specs.tools[id])
    .find((each) => each?.upstream && /search/.test(each.id) && each.parameters.some(({ name }) => name === 'query'));
  if (!tool) return { kind: 'unmapped', why: NO_SEARCH };
  return stepsAction(stepOf({ tool: tool.id, args: { query } }, 'contained'));
}

const NO_SEARCH =
  'searches the web, which no tool here does; web-fetch reads an allowed page, and the operator can bind a tool to the search of an MCP server (docs/recipes/mcp-gateway.md)';

function patchAction(input: unknown, fields: ModelCallArguments, context: ActionContext): ClientAction {
  const text = typeof input === 'string' ? input : (fields['command'] ?? fields['input'] ?? fields['patch']);
  if (typeof text !== 'string') return { kind: 'unmapped', why: 'came without a patch' };
  const patch = parsePatch(text);
  if (!patch.ok)
    return { kind: 'unmapped', why: `came with a patch that cannot be read: line ${patch.line}: ${patch.why}` };
  return { kind: 'steps', steps: patch.files.flatMap((file) => patchSteps(file, context)) };
}

function patchSteps(file: PatchFile, context: ActionContext): readonly ActionStep[] {
  const at = (path: string): string => String(rootRelative(path, context));
  const path = at(file.path);
  if (file.kind === 'add') return [stepOf({ tool: 'write', args: { path, content: file.content } }, 'native')];
  if (file.kind === 'delete') {
    // Decided as a write, because a shell command may be allowed where no file may be written.
    const { byHopgate } = byShell(`rm -- ${toShellWord(path)}`, context);
    return [{ tool: 'write', args: { path, content: '' }, how: 'contained', extra: {}, byHopgate }];
  }
  const edits = file.hunks.map((hunk) => ({ tool: 'edit', args: { path, old: hunk.old, new: hunk.new } }));
  const edit = edits.length === 0 ? [] : [editOfFile({ path }, edits, hunkPositions(file.hunks))];
  if (file.moveTo === null) return edit;
  const to = at(file.moveTo);
  const folder = to.includes('/') ? `mkdir -p -- ${toShellWord(to.slice(0, to.lastIndexOf('/')))} && ` : '';
  return [...edit, byShell(`${folder}mv -- ${toShellWord(path)} ${toShellWord(to)}`, context)];
}

/** Deletes and moves go through the shell, because hopgate has no tool for them. */
const byShell = (command: string, context: ActionContext): ActionStep =>
  stepOf(routeShellCommand(command, context), 'contained');

const hunkPositions = (hunks: readonly { readonly at: string | null }[]): Fields =>
  hunks.some(({ at }) => at !== null) ? { at: hunks.map(({ at }) => at) } : {};
