import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { decodeText } from './decode-text.ts';

const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/;
const TEXT =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:x-)?(?:json5?|ndjson|jsonlines|xml|yaml|toml|xhtml|(?:java|ecma|type)script|sql|graphql|sh|tex|latex|perl|python|ruby)\b)/;

/** True if a response of this content type can be shown as text. */
export const isTextType = (type: string): boolean => HTML.test(type) || TEXT.test(type);

interface ReadableText {
  readonly title: string | null;
  readonly text: string;
  /** True if the text is the page's source, because the conversion exceeded its limits. */
  readonly raw?: true;
}

/** Time limit of the conversion, in a worker thread, because a hostile page could take hours. */
const SECONDS = 15;
const MEMORY_MB = 512;

/** Marks hopgate's worker thread, since other programs' threads may load this module. */
const TASK = 'hopgate: readable-text';

interface Task {
  readonly task: typeof TASK;
  readonly html: string;
  readonly url: string;
}

/**
 * Returns the text of a response. HTML becomes readable text: headings, lists, tables, links; no scripts, styles or
 * images. If the conversion takes too much time or memory, or `signal` aborts, the source is returned.
 */
export async function readableText(
  bytes: Uint8Array,
  type: string,
  url: string,
  signal: AbortSignal,
): Promise<ReadableText> {
  const source = decodeText(bytes, type, HTML.test(type));
  if (!HTML.test(type)) return { title: null, text: source };
  return (await inThread({ task: TASK, html: source, url }, signal)) ?? { title: null, text: source, raw: true };
}

/** Returns null if the worker is aborted, fails or answers nothing. */
async function inThread(task: Task, signal: AbortSignal): Promise<ReadableText | null> {
  if (signal.aborted) return null;
  const worker = new Worker(new URL(import.meta.url), {
    workerData: task,
    execArgv: [],
    env: {},
    stdin: false,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 64 },
  });
  worker.on('error', () => {}); // The worker may also fail while it is terminated.
  const wait = { signal: AbortSignal.any([signal, AbortSignal.timeout(SECONDS * 1000)]) };
  try {
    const [page] = await Promise.race([once(worker, 'message', wait), once(worker, 'exit', wait).then(() => [null])]);
    return page;
  } catch {
    return null;
  } finally {
    await worker.terminate();
  }
}

/** Maximum colspan and rowspan, as in browsers, because a hundred million cells would end the whole process. */
const MAX_SPANNED = 1000;

interface Element {
  readonly name?: string;
  readonly attribs?: { [name: string]: string };
  readonly children?: readonly Element[];
}

function boundSpans({ children = [] }: Element): void {
  for (const element of children) {
    for (const name of ['colspan', 'rowspan'])
      if (Number(element.attribs?.[name]) > MAX_SPANNED) element.attribs![name] = `${MAX_SPANNED}`;
    // Tables inside of this one are converted, and so bounded, separately.
    if (element.name !== 'table') boundSpans(element);
  }
}

async function convertPage({ html, url }: Task): Promise<ReadableText> {
  const { convert } = await import('html-to-text');
  const skip = ['head', 'title', 'img', 'svg', 'script', 'style', 'noscript', 'nav', 'iframe', 'form', 'button'];
  const absolute = (path: string) => (URL.canParse(path, url) ? new URL(path, url).href : path);
  const text = convert(html, {
    baseElements: { selectors: ['main', 'article', 'body'], orderBy: 'selectors', returnDomByDefault: true },
    wordwrap: false,
    limits: { maxInputLength: html.length, maxDepth: 200 },
    formatters: {
      boundTable: (element, walk, builder, options) => {
        boundSpans(element);
        builder.options.formatters?.['dataTable']?.(element, walk, builder, options);
      },
    },
    selectors: [
      { selector: 'a', options: { pathRewrite: absolute, hideLinkHrefIfSameAsText: true } },
      { selector: 'table', format: 'boundTable', options: { uppercaseHeaderCells: false } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
      ...skip.map((selector) => ({ selector, format: 'skip' })),
    ],
  });
  const title = /<title\b[^>]{0,500}>([\s\S]{0,2000}?)<\/title/i.exec(html.slice(0, 1 << 18))?.[1];
  return { title: title === undefined ? null : convert(title, { wordwrap: false }).trim() || null, text: text.trim() };
}

if (!isMainThread && (workerData as Partial<Task> | null)?.task === TASK)
  void convertPage(workerData as Task).then((page) => parentPort?.postMessage(page));
