import { isNode, LineCounter, parseDocument, type YAMLError } from 'yaml';
import { memoise } from '../../base/lazy.ts';
import type { SpecPath, SpecProblem } from '../check/spec-problem.ts';
import { MAX_YAML_NESTING } from '../policy/limits.ts';
import type { SourceDocument, SpecSource } from './source-document.ts';

interface ReadYaml {
  readonly document: SourceDocument;
  readonly problems: SpecProblem[];
}

/** The values of the latest short files without problems: one process reads the same specs again and again. */
const latest = new Map<string, unknown>();
const MAX_LATEST = { files: 32, length: 64 * 1024 };

/** Reads one YAML file. Syntax errors, duplicate keys, several documents, alias bombs and unknown tags are problems. */
export function readYaml(source: SpecSource): ReadYaml {
  const { file, text } = source;
  if (latest.has(text)) {
    const read = memoise(() => parseYaml(source).document);
    const value = structuredClone(latest.get(text));
    return { document: { file, value, lineOf: (path) => read().lineOf(path) }, problems: [] };
  }
  const read = parseYaml(source);
  if (read.problems.length === 0 && text.length <= MAX_LATEST.length) {
    latest.set(text, structuredClone(read.document.value));
    if (latest.size > MAX_LATEST.files) latest.delete(latest.keys().next().value!);
  }
  return read;
}

function parseYaml({ file, text }: SpecSource): ReadYaml {
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false, strict: true });
  const problems: SpecProblem[] = reportedProblems([...parsed.errors, ...parsed.warnings]).map((problem) => ({
    file,
    path: '',
    line: lines.linePos(problem.pos[0]).line,
    message:
      problem.code === 'DUPLICATE_KEY'
        ? `duplicate key: ${/^[^\s:]*/.exec(text.slice(problem.pos[0]))}`
        : describeError(problem.message),
    suggestion: problem.code === 'DUPLICATE_KEY' ? 'keep one of them' : null,
  }));
  const lineOf = (path: SpecPath): number | undefined => {
    for (let length = path.length; length >= 0; length--) {
      const node = length === 0 ? parsed.contents : parsed.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return undefined;
  };
  let value: unknown;
  if (problems.length === 0) {
    try {
      value = parsed.toJS({ maxAliasCount: 100 });
      if (isDeeperThan(MAX_YAML_NESTING, value)) throw new RangeError(`nested deeper than ${MAX_YAML_NESTING} levels`);
    } catch (error) {
      problems.push({ file, path: '', line: 1, message: (error as Error).message, suggestion: null });
    }
  }
  return { document: { file, value, lineOf }, problems };
}

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner)));

/** The message for a syntax error. For a stack overflow of the parser, it names the maximum depth. */
const describeError = (message: string): string =>
  message.includes('call stack') ? `nested deeper than ${MAX_YAML_NESTING} levels` : message;

/** Keeps the first syntax error, because later ones are usually consequences of it, and all duplicate keys. */
function reportedProblems(problems: readonly YAMLError[]): readonly YAMLError[] {
  const syntaxError = problems.find(({ code }) => code !== 'DUPLICATE_KEY');
  return syntaxError === undefined
    ? problems
    : problems.filter(
        (problem) =>
          problem === syntaxError || (problem.code === 'DUPLICATE_KEY' && problem.pos[0] < syntaxError.pos[0]),
      );
}
