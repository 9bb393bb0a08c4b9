import picomatch from 'picomatch';
import type { ToolCall } from '../../ports/tool-backend.ts';
import { pathSegmentsBelow } from './path-argument.ts';
import { invalidArgumentStop, outOfScopeStop, type ToolStop } from './tool-stop.ts';

/** More wildcards could take minutes on a crafted name, because matching backtracks. */
const MAX_WILDCARDS_PER_NAME = 4;
const MAX_GLOBSTARS = 4;
const MAX_LENGTH = 512;

/**
 * Compiles a glob argument into a path predicate. `*` matches within one name, `**` spans folders, `{a,b}` and `[a-z]`
 * work as in a shell; dot files match; extended globs are not supported.
 * @param anywhere a pattern without a slash matches at any depth
 */
export function compileGlobArgument(
  call: ToolCall,
  argument: string,
  anywhere: boolean,
): { matches: (path: string) => boolean } | ToolStop {
  const value = call.args[argument];
  const remedy = 'Give a pattern such as "src/**/*.ts", relative to the searched folder.';
  if (typeof value !== 'string' || value === '' || /[\u0000-\u001f\u007f-\u009f]/.test(value))
    return invalidArgumentStop(argument, `"${argument}" must be a pattern.`, remedy);
  const segments = pathSegmentsBelow(call.envelope.root, value);
  if (segments === null || segments.includes('..'))
    return outOfScopeStop(argument, `"${value}" reaches outside the root.`, remedy);
  const stars = (name: string) => name.split('*').length - 1;
  const globstars = segments.filter((name) => name.includes('**')).length;
  const crowded = segments.some((name) => name !== '**' && stars(name) > MAX_WILDCARDS_PER_NAME);
  if (value.length > MAX_LENGTH || globstars > MAX_GLOBSTARS || crowded)
    return invalidArgumentStop(
      argument,
      `"${argument}" has too many wildcards to match in time.`,
      'Use fewer, and search within the result.',
    );
  const pattern = anywhere && segments.length === 1 ? `**/${segments[0]}` : segments.join('/');
  return { matches: picomatch(pattern, { dot: true, nonegate: true, noextglob: true }) };
}
