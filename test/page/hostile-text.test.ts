import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDeep } from '../depth.ts';
import { serveWorld } from '../server/serve-world.ts';
import { builtPage } from './built-page.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

const PIECES = [
  '<img src=x onerror=window.hacked=1>',
  '<script>window.hacked=1</script>',
  '</script><script>window.hacked=1</script>',
  '<iframe srcdoc="<script>parent.hacked=1</script>">',
  '<svg/onload=window.hacked=1>',
  '<style>*{display:none}</style>',
  '<a href="javascript:window.hacked=1">x</a>',
  '"><input autofocus onfocus=window.hacked=1>',
  '{{constructor.constructor("window.hacked=1")()}}',
  '<!--',
  ']]>',
  '</hopgate-view></main>',
  '&lt;b&gt;&#x3c;',
  '\u001b[31mred\u001b]0;title\u0007\u001b[2J',
  '\u009b31m',
  '\u202eevil\u202c',
  '\u2066\u2069\u200f\u061c',
  '\ud83d',
  '\udc00',
  '\u0000\u0008\r\n\t',
  '\u{e0041}\u200b\ufeff',
  '__proto__',
  'a'.repeat(5_000),
  'ﷺ'.repeat(200),
  'Z̴̡̢͖̖̟̫̾́̕'.repeat(40),
];
const hostile = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 20 })), {
  minLength: 1,
  maxLength: 6,
});
/** Characters that would change the order, the look or the meaning of the text around them. */
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

// test/page/page.test.ts shows some markup in `npm test`.
describe.runIf(isDeep && CHROMIUM !== undefined)(
  'text of an agent in Chromium (skipped without Chromium: apt-get install chromium)',
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] });
    });
    afterAll(() => browser?.close());

    /**
     * The page's rendering of the texts: elements that none of its components has, hidden characters, and scripts that
     * ran.
     */
    const made = (page: Page) =>
      page.evaluate<{ hacked: unknown; elements: string[]; text: string }>(`(() => {
        const root = document.querySelector('hopgate-view').shadowRoot;
        return {
          hacked: window.hacked ?? null,
          elements: [...root.querySelectorAll('img,script,iframe,style,a,link,object,embed,[onerror],[onload],[onfocus]')].map((one) => one.outerHTML),
          text: [...root.querySelectorAll('*')].flatMap((one) => [...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).concat([...one.attributes].map(({ value }) => value))).join('|'),
        };
      })()`);

    it('is text everywhere: in rows, details, requests and messages, also lines of megabytes', async () => {
      const served = await serveWorld();
      const { id, token } = await served.session();
      const post = (what: string, body: unknown) => served.ask(`POST /v1/sessions/${id}/${what}`, { token, body });
      const texts = fc.sample(hostile, 150).map((pieces) => pieces.join(''));
      for (const text of texts) {
        await post('step', { tool: 'read', args: { path: text.slice(0, 2_000) } });
        await post('step', { tool: text.slice(0, 60) || 'x', args: { [text.slice(0, 40)]: text } });
        await post('bell', { to: 'person:operator', text: text.trim() === '' ? 'x' : text });
      }
      await post('mode', { to: 'diagnose', reason: texts[0] });
      await post('mode', { to: 'execute', reason: texts.join(' ').slice(0, 4_000), exitCriteria: texts[1] });
      await post('step', { tool: 'write', args: { path: 'a', content: `${'<b>'.repeat(1_200_000)}` } });

      const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
      page.setDefaultTimeout(120_000);
      const faults: string[] = [];
      page.on('console', (message) => faults.push(message.text()));
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('dialog', () => faults.push('a dialog'));
      await page.route('**/page.js', (route) => route.fulfill({ path: builtPage() }));
      await page.goto(`${served.http.address}/#code=${served.http.issueCode()}`);
      await page.locator('.row').first().waitFor();
      await page.locator('.inbox-message').first().waitFor();
      await page.getByText('Everything that the yes is bound to').first().click();
      await page.getByRole('listbox').focus();
      const check = async () => {
        const { hacked, elements, text } = await made(page);
        expect(hacked).toBeNull();
        expect(elements).toEqual([]);
        const at = text.search(HIDDEN);
        expect(at < 0 ? '' : text.slice(Math.max(0, at - 100), at + 40)).toBe('');
      };
      for (let row = 0; row < 40; row++) {
        await check();
        await page.keyboard.press('ArrowUp');
      }
      await check();
      // A megabyte of text never reaches the document.
      expect((await made(page)).text.length).toBeLessThan(400_000 + texts.join('').length * 4);
      expect(await page.title()).toMatch(/^\(\d+\) hopgate$/);
      expect(faults).toEqual([]);
      await page.context().close();
    });
  },
);
