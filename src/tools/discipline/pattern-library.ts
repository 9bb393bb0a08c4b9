import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { memoise } from '../../base/lazy.ts';
import type { ToolBackend, ToolCall } from '../../ports/tool-backend.ts';
import { defaultSpecsFolder } from '../../spec/load/load-specs.ts';
import type { Fields } from '../../spec/types.ts';
import { type LibraryPattern, PATTERN_FILE_ENDINGS, readPatternFile } from './pattern-file.ts';

/** Folder of a repository's own patterns. */
const PATTERNS_FOLDER = 'patterns';
const MAX_PATTERNS = 500;
const MAX_BYTES = 64 * 1024;

interface PatternLibrary {
  /** The source of the patterns: `patterns` (the repository's own folder) or `built-in`. */
  readonly from: typeof PATTERNS_FOLDER | 'built-in';
  readonly patterns: readonly LibraryPattern[];
  readonly faulty: readonly { readonly file: string; readonly problem: string }[];
  /** The pattern files of the repository that were read. */
  readonly read: readonly string[];
}

/**
 * The patterns that an agent can select: those in the repository's `patterns/` if it has any, else the built-in ones.
 * Reads the repository through the file tools, so that masks and the call's scope apply and no link leads out.
 */
export async function loadPatternLibrary(call: ToolCall, files: ToolBackend): Promise<PatternLibrary> {
  const own = call.envelope.scope.read === 'root' ? await ownPatterns(call, files) : null;
  return own && own.patterns.length + own.faulty.length > 0 ? own : builtInLibrary();
}

async function ownPatterns(call: ToolCall, files: ToolBackend): Promise<PatternLibrary> {
  const use = async (id: string, args: Fields) => {
    const tool = { ...call.tool, id, limits: { seconds: call.tool.limits.seconds, outputBytes: MAX_BYTES } };
    const { outcome } = await files.run({ ...call, tool, args });
    return outcome.status === 'ok' ? (outcome.result as Fields) : null;
  };
  const listed = await use('glob', { pattern: `**/*{${PATTERN_FILE_ENDINGS.join(',')}}`, path: PATTERNS_FOLDER });
  const paths = (Array.isArray(listed?.['files']) ? listed['files'] : []).filter((path) => typeof path === 'string');
  const sources: Source[] = [];
  for (const path of paths.slice(0, MAX_PATTERNS)) {
    const { text, truncated } = (await use('read', { path })) ?? {};
    if (typeof text === 'string' && truncated !== true) sources.push({ file: path, text });
  }
  return libraryFrom(
    PATTERNS_FOLDER,
    sources,
    sources.map(({ file }) => file),
  );
}

const builtInLibrary = memoise(async (): Promise<PatternLibrary> => {
  const folder = join(defaultSpecsFolder(), PATTERNS_FOLDER);
  const names = (await readdir(folder)).filter((name) => PATTERN_FILE_ENDINGS.some((ending) => name.endsWith(ending)));
  const sources = names.sort().map(async (name) => ({ file: name, text: await readFile(join(folder, name), 'utf8') }));
  return libraryFrom('built-in', await Promise.all(sources), []);
});

interface Source {
  readonly file: string;
  readonly text: string;
}

function libraryFrom(
  from: PatternLibrary['from'],
  sources: readonly Source[],
  read: readonly string[],
): PatternLibrary {
  const patterns = new Map<string, LibraryPattern>();
  const faulty: { file: string; problem: string }[] = [];
  for (const { file, text } of sources) {
    const pattern = readPatternFile(file, text);
    if (typeof pattern === 'string') faulty.push({ file, problem: pattern });
    else if (patterns.has(pattern.id)) faulty.push({ file, problem: `another file has the id ${pattern.id}` });
    else patterns.set(pattern.id, pattern);
  }
  return { from, patterns: [...patterns.values()], faulty, read };
}
