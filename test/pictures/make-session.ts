/**
 * Makes the README's picture, light and dark: `node test/pictures/make-session.ts`. It runs the demo scenario, records
 * the session, shows it in Chromium, and joins the screenshots of its moments to one animated SVG. Needs Chromium,
 * bubblewrap and a built page (`npm run build`).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { type Body, toBody } from '../../src/evidence/bodies.ts';
import type { Entry } from '../../src/evidence/entry.ts';

const SIZE = { width: 1040, height: 640 };
const CAPTION = 44;
const SECONDS = 3;
const THEMES = {
  light: { back: '#ffffff', ink: '#1b1f24' },
  dark: { back: '#0d1117', ink: '#e6edf3' },
} as const;

/** Converts in the browser. It is text, because this file is compiled without the types of a page. */
const AS_WEBP = `async (png) => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + png;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext('2d').drawImage(image, 0, 0);
  const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.55 });
  return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())));
}`;

const folder = mkdtempSync(join(tmpdir(), 'hopgate-picture-'));
const env = { ...process.env, XDG_STATE_HOME: join(folder, 'state'), NO_COLOR: '1' };
const hopgate = (...words: readonly string[]): string =>
  execFileSync(process.execPath, [resolve('src/cli/main.ts'), ...words], { env, encoding: 'utf8' });
const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const { session, root } = linesOf(hopgate('run', 'specs/scenarios/fix-a-bug.yaml', '--json')).at(-1);
const page = join(folder, 'session.html');
hopgate('record', session, '--root', root, '--out', page);
const result = hopgate('verify', session, '--root', root).split('\n')[0]!.replace(session, '').replace(/ +/, ': ');
const entries = linesOf(hopgate('log', session, '--root', root, '--json')) as readonly Entry[];

/** The last entry whose body fits. */
function seqOf(fits: (body: Body) => boolean): number {
  const found = entries.findLast(({ body }) => {
    const known = toBody(body);
    return known !== null && fits(known);
  });
  if (!found) throw new Error('the session has no such entry');
  return found.seq;
}
const did = (body: Body, what: string): boolean => JSON.stringify(body).includes(what);

const MOMENTS: readonly { readonly caption: string; readonly seq: number }[] = [
  {
    caption: '1 · Refused: explore cannot write. The refusal names the path, which lights up in the graph.',
    seq: seqOf((body) => body.event === 'denial' && body.code === 'tool-not-allowed'),
  },
  {
    caption: '2 · The path: the agent hops to edit, and fixes the bug there.',
    seq: seqOf((body) => body.event === 'outcome' && body.tool === 'edit'),
  },
  {
    caption: '3 · The tests pass, on exactly these files.',
    seq: seqOf((body) => body.event === 'step' && body.tool === 'bash-test' && did(body, '"verdict":"pass"')),
  },
  {
    caption: '4 · A person approves the diff and the commit message, and the hop to deploy opens.',
    seq: seqOf((body) => body.event === 'start' && body.peripheral === 'deploy'),
  },
  {
    caption: '5 · Committed and pushed: the approved tree and nothing else.',
    seq: seqOf((body) => body.event === 'outcome' && did(body, '"pushed":true')),
  },
  { caption: `6 · $ hopgate verify: ${result}`, seq: entries.at(-1)!.seq },
];

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (executablePath === undefined) throw new Error('no Chromium: apt-get install chromium');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  for (const theme of ['light', 'dark'] as const) {
    const file = resolve(`docs/pictures/session-${theme}.svg`);
    const svg = pictureOf(await framesOf(browser, theme), theme);
    writeFileSync(file, svg);
    console.log(`${file}: ${Math.round(svg.length / 1024)} kB`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
  rmSync(root, { recursive: true, force: true });
}

/** A screenshot of each moment, as WebP in base64. */
async function framesOf(browser: Browser, colorScheme: keyof typeof THEMES): Promise<readonly string[]> {
  const shown = await browser.newPage({ viewport: SIZE, colorScheme, reducedMotion: 'reduce' });
  await shown.goto(`file://${page}`);
  await shown.locator('hopgate-view main').waitFor();
  const frames: string[] = [];
  const converter = await browser.newPage();
  for (const { seq } of MOMENTS) {
    await shown.getByRole('slider').fill(String(seq));
    await shown.waitForTimeout(300);
    const png = (await shown.screenshot()).toString('base64');
    frames.push(await converter.evaluate<string>(`(${AS_WEBP})(${JSON.stringify(png)})`));
  }
  return frames;
}

/** Each frame is visible for its share of the time. Without motion, the first one stays. */
function pictureOf(frames: readonly string[], theme: keyof typeof THEMES): string {
  const { back, ink } = THEMES[theme];
  const { width, height } = SIZE;
  const share = 100 / frames.length;
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const shown = frames.map(
    (frame, index) => `<g class="f" style="animation-delay:${index * SECONDS}s">
<image y="${CAPTION}" width="${width}" height="${height}" href="data:image/webp;base64,${frame}"/>
<text x="16" y="29">${escaped(MOMENTS[index]!.caption)}</text>
</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + CAPTION}" role="img">
<title>A session of hopgate in the live view: ${escaped(MOMENTS.map(({ caption }) => caption).join(' '))}</title>
<style>.f{opacity:0;animation:f ${frames.length * SECONDS}s step-end infinite}.f:first-of-type{opacity:1}
@keyframes f{0%{opacity:1}${share}%{opacity:0}}
text{font:600 17px system-ui,sans-serif;fill:${ink}}
@media (prefers-reduced-motion:reduce){.f{animation:none}}</style>
<rect width="${width}" height="${height + CAPTION}" fill="${back}"/>
${shown.join('\n')}
</svg>
`;
}
