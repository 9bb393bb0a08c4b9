import { describe, expect, it } from 'vitest';
import { readableText } from '../../../src/tools/web/readable-text.ts';
import { sample } from '../../depth.ts';

const HTML = 'text/html';
const never = new AbortController().signal;
const read = (source: string | Buffer, type = HTML, signal = never) =>
  readableText(Buffer.from(source as never), type, 'https://docs.example.com/a/', signal);

describe('readable text', () => {
  it('reads HTML as text: headings, lists, links; no scripts and styles', async () => {
    expect(
      await read('<title>T &amp; t</title><style>.x{}</style><h1>Head</h1><ul><li>one</ul><a href="../b">b</a>'),
    ).toEqual({ title: 'T & t', text: 'Head\n\n * one\n\nb [https://docs.example.com/b]' });
  });

  it('leaves other content unchanged', async () => {
    expect(await read('<b>x</b>', 'text/plain')).toEqual({ title: null, text: '<b>x</b>' });
  });

  // Each of these keeps a converter busy for minutes, or uses up all memory.
  const UNUSUAL = [
    ['folders of folders', '<div>'.repeat(400_000)],
    ['cells that span thousands', `<table>${'<tr><td colspan=9999 rowspan=9999>x'.repeat(100_000)}</table>`],
    ['numerals of millions of letters', `<ol type="i" start="999999999">${'<li>x'.repeat(100_000)}`],
    ['titles that never end', '<title '.repeat(1_000_000)],
  ] as const;
  it.each(sample(UNUSUAL, 3))('falls back to the source after unusual HTML made of %s', async (_, html) => {
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 5);
    const { text, raw } = await read(html, HTML, AbortSignal.timeout(500));
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(0);
    // a title without an end is not a title; the test checks that this is found in linear time
    if (raw) expect(text).toBe(html);
    else expect(html).toContain('<title');
  });

  it.each(sample(['99999999', '&#57;9999999', '1e8'], 3))('accepts cells that span %s others', async (span) => {
    const cells = `<table><tr><td colspan="${span}" rowspan="${span}">x`;
    expect((await read(`<table><tr><td>${cells}</table><td>y</table>`)).text).toMatch(/^x\s+y$/);
  });

  it('is the page’s source if the time limit is reached', async () => {
    expect(await read('<p>x</p>', HTML, AbortSignal.abort())).toEqual({ title: null, text: '<p>x</p>', raw: true });
  });

  it.each([
    ['its content type', Buffer.from('<p>caf\xe9', 'latin1'), 'text/html; charset="ISO-8859-1"', 'café'],
    ['its meta', Buffer.from('<meta charset=windows-1252><p>caf\xe9', 'latin1'), HTML, 'café'],
    [
      'its http-equiv',
      Buffer.from('<meta http-equiv=content-type content="text/html; charset=iso-8859-1"><p>\xe9', 'latin1'),
      HTML,
      'é',
    ],
    ['its byte order mark', Buffer.from('\ufeffwide é', 'utf16le'), 'text/plain', 'wide é'],
    ['UTF-8 by default', Buffer.from('é'), 'text/plain', 'é'],
    ['UTF-8 if its charset is unknown', Buffer.from('é'), 'text/plain; charset=x-none', 'é'],
    ['a content type against its meta', Buffer.from('<meta charset=latin1><p>é'), 'text/html; charset=utf-8', 'é'],
  ])('is decoded by %s', async (_, bytes, type, text) => {
    expect((await read(bytes, type)).text).toBe(text);
  });
});
