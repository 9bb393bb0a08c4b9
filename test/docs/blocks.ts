import { readdirSync, readFileSync } from 'node:fs';

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly lang: string;
  readonly text: string;
  /** Why it is not run: from a comment `<!-- not run: reason -->` on the line before it. */
  readonly notRun: string | null;
  /**
   * The file that it shows: from a first line `# path` or `// path` (`;; path` in EDN), or from a line "`path`:" above.
   */
  readonly file: string | null;
}

const FENCE = /^```(\S*)\n([\s\S]*?)^```$/gm;
const NAMED = /^(?:#|\/\/|;;) ([\w@][\w./-]*\.[a-z]+)\n/;
const NAMED_ABOVE = /\n`([\w@][\w./-]*\.[a-z]+)`:\n+$/;

/** README.md, CONTRIBUTING.md and every page in docs/. */
export const pages = (): readonly string[] => [
  'README.md',
  'CONTRIBUTING.md',
  ...(readdirSync('docs', { recursive: true }) as string[])
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => `docs/${file}`),
];

export function blocksOf(page: string, text = readFileSync(page, 'utf8')): readonly Block[] {
  return [...text.matchAll(FENCE)].map(({ 1: lang = '', 2: body = '', index }) => {
    const before = text.slice(0, index);
    return {
      page,
      line: before.split('\n').length,
      lang,
      text: body,
      notRun: /<!-- not run: (.+) -->\n+$/.exec(before)?.[1] ?? null,
      file: NAMED.exec(body)?.[1] ?? NAMED_ABOVE.exec(before)?.[1] ?? null,
    };
  });
}

/** A whole program, as opposed to a few lines about a session that the page has opened elsewhere. */
export const isProgram = ({ lang, text }: Block): boolean => lang === 'ts' && /^import .* from 'hopgate/m.test(text);
