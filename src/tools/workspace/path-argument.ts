import { sep } from 'node:path';
import { CONTROL_CHARACTER_REMEDY } from '../../gate/scope/path-refusals.ts';
import { MAX_PATH_BYTES, URL_START_PATTERN } from '../../spec/policy/limits.ts';
import type { Json } from '../../spec/types.ts';
import { invalidArgumentStop, outOfScopeStop, type ToolStop } from './tool-stop.ts';

/** Parses a path, relative or inside the root, into segments under it. Resolves `.` and `..` without the disk. */
export function parsePathArgument(
  root: string,
  argument: string,
  value: Json | undefined,
): { segments: string[] } | ToolStop {
  const remedy = 'Give a path relative to the root, such as "src/main.ts".';
  if (typeof value !== 'string') return invalidArgumentStop(argument, `"${argument}" must be a string.`, remedy);
  if (value === '') return invalidArgumentStop(argument, `"${argument}" is empty.`, `${remedy} "." is the root.`);
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value))
    return invalidArgumentStop(argument, `"${argument}" contains a control character.`, CONTROL_CHARACTER_REMEDY);
  if (URL_START_PATTERN.test(value))
    return invalidArgumentStop(argument, `"${argument}" is an address, not a path.`, remedy);
  if (!value.isWellFormed()) return invalidArgumentStop(argument, `"${argument}" is not well-formed Unicode.`, remedy);
  if (Buffer.byteLength(value) > MAX_PATH_BYTES)
    return invalidArgumentStop(argument, `"${argument}" is longer than ${MAX_PATH_BYTES} bytes.`, remedy);
  const segments = resolvePathSegments(pathSegmentsBelow(root, value));
  return segments ? { segments } : outOfScopeStop(argument, `"${value}" is outside the root.`, remedy);
}

/** Returns the segments of a path under the root with `..` unresolved; null for an absolute path elsewhere. */
export function pathSegmentsBelow(root: string, path: string): string[] | null {
  const segments = pathSegments(path);
  if (!isAbsolute(path)) return segments;
  const base = pathSegments(root);
  return base.every((name, i) => segments[i] === name) ? segments.slice(base.length) : null;
}

/** True if `segments` equals `prefix` or is inside it. */
export const isUnderSegments = (segments: readonly string[], prefix: readonly string[]): boolean =>
  prefix.length <= segments.length && prefix.every((name, i) => segments[i] === name);

/** Resolves `..` lexically; null if it climbs above the start. */
export function resolvePathSegments(segments: readonly string[] | null): string[] | null {
  const resolved: string[] = [];
  for (const name of segments ?? ['..']) {
    if (name !== '..') resolved.push(name);
    else if (resolved.pop() === undefined) return null;
  }
  return resolved;
}

export const pathSegments = (path: string): string[] =>
  (sep === '\\' ? path.replaceAll('\\', '/') : path).split('/').filter((name) => name !== '' && name !== '.');

const isAbsolute = (path: string): boolean => path.startsWith('/') || (sep === '\\' && /^([a-z]:|\\)/i.test(path));
