import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { decodeText } from './decode-text.ts';

const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/;
const TEXT =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:x-)?(?:json5?|ndjson|jsonlines|xml|yaml|toml|xhtml|(?:java|ecma|type)script|sql|graphql|sh|tex|latex|perl|python|ruby)\b)/;

/** Whether an answer of this content type can be shown as text. */
export function isText(type: string): boolean {
  return HTML.test(type) || TEXT.test(type);
}

export interface ReadableText {
  readonly title: string | null;
  readonly text: string;
  /** The page could not be made readable in bounds: this is its source. */
  readonly raw?: true;
}

/** A page made to be costly would keep the engine busy for hours, or end it: HTML is read in a thread that can be ended instead. */
const SECONDS = 15;
const MEMORY_MB = 512;

/** Marks the thread that is ours: this module may be loaded in threads of others. */
const TASK = 'hopgate: readable-text';

interface Task {
  readonly task: typeof TASK;
  readonly html: string;
  readonly url: string;
}

/**
 * The text of an answer, HTML turned into something that reads well: headings, lists, tables, links; no scripts, styles or images. HTML that
 * takes too much time or memory for that, or too long for `signal`, comes as its source.
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

/** null: it came to nothing. */
async function inThread(task: Task, signal: AbortSignal): Promise<ReadableText | null> {
  if (signal.aborted) return null;
  const worker = new Worker(new URL(import.meta.url), {
    workerData: task,
    execArgv: [],
    env: {},
    stdin: false,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 64 },
  });
  let end = () => {};
  const answer = new Promise<ReadableText | null>((resolve) => {
    end = () => resolve(null);
    worker.once('message', resolve).once('error', end).once('exit', end);
  });
  const timer = setTimeout(end, SECONDS * 1000);
  signal.addEventListener('abort', end, { once: true });
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    await worker.terminate();
  }
}

/** As in browsers. A list of a hundred million cells is one piece of memory, and asking for that ends the process, not the thread. */
const MOST_SPANNED = 1000;

interface Element {
  readonly name?: string;
  readonly attribs?: { [name: string]: string };
  readonly children?: readonly Element[];
}

function boundSpans({ children = [] }: Element): void {
  for (const element of children) {
    for (const name of ['colspan', 'rowspan'])
      if (Number(element.attribs?.[name]) > MOST_SPANNED) element.attribs![name] = `${MOST_SPANNED}`;
    // Of an inner table its own turn takes care.
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
