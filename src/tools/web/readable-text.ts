import { convert } from 'html-to-text';

const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/;
const TEXT = /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|toml|javascript|x-ndjson|xhtml)\b)/;

/** Whether an answer of this content type can be shown as text. */
export function isText(type: string): boolean {
  return HTML.test(type) || TEXT.test(type);
}

/** The text of an answer, HTML turned into something that reads well: headings, lists, tables, links; no scripts, styles or images. */
export function readableText(
  bytes: Uint8Array,
  type: string,
  url: string,
): { readonly title: string | null; readonly text: string } {
  const source = decode(bytes, type);
  if (!HTML.test(type)) return { title: null, text: source };
  const skip = ['head', 'title', 'img', 'svg', 'script', 'style', 'noscript', 'nav', 'iframe', 'form', 'button'];
  const absolute = (path: string) => (URL.canParse(path, url) ? new URL(path, url).href : path);
  const text = convert(source, {
    baseElements: { selectors: ['main', 'article', 'body'], orderBy: 'selectors', returnDomByDefault: true },
    wordwrap: false,
    limits: { maxInputLength: source.length, maxDepth: 200 },
    selectors: [
      { selector: 'a', options: { pathRewrite: absolute, hideLinkHrefIfSameAsText: true } },
      { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
      ...skip.map((selector) => ({ selector, format: 'skip' })),
    ],
  });
  const title = /<title\b[^>]*>([\s\S]{0,2000}?)<\/title/i.exec(source)?.[1];
  return { title: title === undefined ? null : convert(title, { wordwrap: false }).trim() || null, text: text.trim() };
}

function decode(bytes: Uint8Array, type: string): string {
  const charset = /charset="?([\w-]+)/.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
