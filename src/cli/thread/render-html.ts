import { visible } from '../../base/text.ts';
import { xml } from '../../compile/svg/text.ts';
import type { Row, ThreadVisit } from './outline.ts';
import { isVisit } from './render-text.ts';
import { duration, offset } from './times.ts';

const STYLE = `:root{color-scheme:light dark;--ink:light-dark(#1c2430,#dfe6ee);--soft:light-dark(#5a6675,#93a1b1);--page:light-dark(#fff,#12171d);--line:light-dark(#d6dde5,#2b3540);--visit:light-dark(#f4f7fa,#181f27);--name:light-dark(#0b6680,#63c7e2);--ok:light-dark(#1a7a3c,#5fce86);--failed:light-dark(#8a5a00,#e5b454);--refused:light-dark(#b3202c,#ff7b84)}
*{box-sizing:border-box}body{margin:2rem auto;padding:0 1rem;max-width:72rem;color:var(--ink);background:var(--page);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.1rem;overflow-wrap:anywhere}ol{list-style:none;margin:0;padding:0}
.visit{margin:.6rem 0;border:1px solid var(--line);border-left:4px solid var(--name);border-radius:6px;background:var(--visit);padding:.3rem .6rem}
.visit>summary{font-weight:600;color:var(--name)}summary{cursor:pointer;overflow-wrap:anywhere;padding-left:6.7rem;text-indent:-6.7rem}
time{display:inline-block;min-width:5.5rem;text-indent:0;color:var(--soft);font-size:.8rem;font-variant-numeric:tabular-nums;font-weight:400}
.came,.took{color:var(--soft)}.notes{margin:.1rem 0 .3rem 6.7rem;color:var(--soft);font-size:.9rem;overflow-wrap:anywhere}
.mark{display:inline-block;width:1.3rem;text-indent:0;font-weight:700}.ok .mark{color:var(--ok)}.failed .mark,.failed .came,.unknown .mark,.unknown .came{color:var(--failed)}.refused .mark,.refused .came{color:var(--refused)}
.refused{border-left:3px solid var(--refused);margin-left:-.6rem;padding-left:calc(.6rem - 3px)}
pre{margin:.3rem 0 .6rem 6.7rem;padding:.6rem;max-height:24rem;overflow:auto;border:1px solid var(--line);border-radius:6px;font-size:.8rem;white-space:pre-wrap;overflow-wrap:anywhere}
@media(max-width:40rem){.notes,pre{margin-left:1rem}}`;

const SIGNS = { ok: '✓', failed: '!', refused: '✗', unknown: '?' } as const;
const WORDS = { ok: 'done', failed: 'failed', refused: 'refused', unknown: 'outcome unknown' } as const;
const LONGEST = 20_000;

/** Renders a thread as one page without scripts; visits and entries fold. Every text of the evidence is escaped. */
export function renderHtml(title: string, items: readonly (Row | ThreadVisit)[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<ol>
${items.map((item) => `<li>${isVisit(item) ? visit(item) : row(item)}</li>`).join('\n')}
</ol>
</body>
</html>`;
}

function visit({ start, rows, stop }: ThreadVisit): string {
  const lines = [...rows, ...(stop === null ? [] : [stop])].map((one) => `<li>${row(one)}</li>`);
  return `<details class="visit" open><summary>${line(start)}</summary>${notes(start)}<ol>
${lines.join('\n')}
</ol></details>`;
}

const row = (one: Row): string =>
  `<div class="row ${one.mark ?? ''}"${one.depth > 0 ? ` style="margin-left:${Math.min(one.depth, 12) * 1.5}rem"` : ''}><details><summary>${line(one)}</summary>${bodies(one)}</details>${notes(one)}</div>`;

function line({ after, mark, what, came, took }: Row): string {
  const sign = mark === null ? '' : `<span class="mark" role="img" aria-label="${WORDS[mark]}">${SIGNS[mark]}</span>`;
  const slow = took !== null && took >= 1000 ? ` <span class="took">(${duration(took)})</span>` : '';
  return `<time>${escaped(offset(after))}</time>${sign}<span class="what">${escaped(what)}</span>${came === '' ? '' : ` <span class="came">${escaped(came)}</span>`}${slow}`;
}

const notes = (one: Row): string =>
  one.notes.length === 0 ? '' : `<div class="notes">${one.notes.map(escaped).join('<br>')}</div>`;

/** The entries as JSON, which the reader sees after opening the line. */
const bodies = ({ entries }: Row): string =>
  entries
    .map(({ seq, at, claim, author, body }) => {
      const text = JSON.stringify(body, null, 2);
      const whole =
        text.length <= LONGEST
          ? text
          : `${text.slice(0, LONGEST)}… (${text.length} characters; see hopgate log --full)`;
      return `<pre>#${seq}  ${escaped(at)}  ${escaped(claim)}  ${escaped(author)}\n${whole.split('\n').map(escaped).join('\n')}</pre>`;
    })
    .join('');

const escaped = (text: string): string => xml(visible(text));
