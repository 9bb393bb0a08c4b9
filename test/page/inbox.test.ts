import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvalHash } from '../../src/gate/approvals/approval.ts';
import { pendingApprover } from '../../src/operator/pending-approver.ts';
import { stateDir } from '../../src/project/state-dir.ts';
import { isDeep } from '../depth.ts';
import { serveWorld, until } from '../server/serve-world.ts';
import { builtPage } from './built-page.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
/** Set `HOPGATE_PICTURES=DIR` to get screenshots of the pages. */
const { HOPGATE_PICTURES: pictures } = process.env;

/** A server, a session that waits for EXECUTE, and a request to deploy a change with a file outside of the scope. */
async function waiting() {
  const served = await serveWorld({ 'src/cart.js': 'export const sum = 1;\n', Makefile: 'all:\n' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', served.root, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      env: { ...process.env, ...served.env },
    });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'first');
  writeFileSync(join(served.root, 'src/cart.js'), 'export const sum = (a, b) => a + b;\n');
  writeFileSync(join(served.root, 'Makefile'), 'all:\n\techo no\n');
  const { id, token } = await served.session();
  const move = (what: string, body: unknown) => served.ask(`POST /v1/sessions/${id}/${what}`, { token, body });
  const execute = async () => (await move('mode', { to: 'execute', reason: 'the cause is known' })).json.ok as boolean;
  await move('mode', { to: 'diagnose' });
  await execute();
  const subject = {
    sessionId: id,
    action: { kind: 'hop' as const, from: 'test', exit: 'pass', to: 'deploy' },
    reason: 'all tests pass',
    view: {
      fruit: { result: 'pass', 'test-count': 12, failures: [] },
      context: { 'session-id': id, 'commit-message': 'fix(cart): add both prices\n\nThe sum ignored its arguments.' },
      changes: { 'src/cart.js': null, Makefile: null },
      ships: { files: ['src/cart.js', 'Makefile'], left: ['notes.txt'], to: '/srv/shop.git', onto: 'refs/heads/main' },
    },
  };
  const hop = { ...subject, agent: 'builder', hash: approvalHash(subject) };
  await pendingApprover({ stateDir: stateDir(served.root, served.env), root: served.root }).approve(hop);
  return { served, id, move, execute };
}

describe.skipIf(CHROMIUM === undefined)(
  'the inbox in Chromium (skipped without Chromium: apt-get install chromium)',
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] });
    });
    afterAll(() => browser?.close());

    async function open({ http, later }: Awaited<ReturnType<typeof waiting>>['served']) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
      later(() => context.close());
      const page = await context.newPage();
      page.setDefaultTimeout(120_000);
      await page.route('**/page.js', (route) => route.fulfill({ path: builtPage() }));
      await page.goto(`${http.address}/#code=${http.issueCode()}`);
      await page.locator('.request').nth(1).waitFor();
      const picture = async (name: string) => {
        if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`) });
      };
      return { page, context, picture };
    }

    it('shows what a yes allows and the diff with a line before the files outside of the scope, and takes the first answer', async () => {
      const { served } = await waiting();
      const { page } = await open(served);
      const card = page.getByRole('article', { name: 'the hop test → deploy (exit pass)' });
      expect(await card.locator('.brief').textContent()).toMatch(
        /deploy: .*bash-git.*fix\(cart\).*no run is recorded/s,
      );
      expect(await card.locator('h4').textContent()).toBe('1 of 2 changed files are inside of the scope');
      const parts = await card.locator('.changes > *').allInnerTexts();
      const at = (text: string) => parts.findIndex((part) => part.includes(text));
      expect([at('src/cart.js'), at('Outside of the scope'), at('Makefile'), at('notes.txt')]).toEqual([1, 2, 3, 4]);
      expect(await card.locator('.out ins').textContent()).toContain('echo no');
      const posts: number[] = [];
      page.on('response', (response) => response.request().method() === 'POST' && posts.push(response.status()));
      const [, { id, hash }] = (await served.ask('GET /v1/approvals')).json.approvals;
      const read = Promise.withResolvers<void>();
      await page.route('**/v1/approvals', async (route) => {
        await read.promise;
        await route.continue();
      });
      await served.ask(`POST /v1/approvals/${id}`, { body: { verdict: 'no', hash, by: 'eve' } });
      await card.getByRole('button', { name: 'Approve once' }).click();
      await expect.poll(() => posts).toEqual([409]);
      read.resolve();
      await page.getByRole('alert').getByText(`eve has answered ${id} with no`).waitFor();
      await page.getByRole('button', { name: 'Approve once' }).dblclick();
      await page.locator('.inbox').waitFor({ state: 'detached' });
      expect(await page.locator('.wants .big').textContent()).toBe('nothing');
      expect(posts).toEqual([409, 200]);
      expect(await page.getByRole('alert').count()).toBe(0);
    });

    it.runIf(isDeep)('gives a grant, lists it, and revokes it', async () => {
      const { served, move, execute } = await waiting();
      const { page } = await open(served);
      const card = page.getByRole('article', { name: 'mode diagnose → execute' });
      await card.locator('.grant summary').click();
      await card.getByLabel('number of requests').fill('3');
      await card.getByLabel('the tests fail').check();
      await card.getByRole('button', { name: 'Grant' }).click();
      await card.waitFor({ state: 'detached' });
      const again = async () => {
        await move('mode', { to: 'discuss', summary: 'done' });
        await move('mode', { to: 'diagnose' });
        return execute();
      };
      expect([await execute(), await again()]).toEqual([true, true]);
      const grants = page.getByRole('region', { name: 'Grants' });
      await grants.getByText(/mode diagnose → execute 3 times, until a test run does not pass/).waitFor();
      await grants.getByRole('button', { name: 'Revoke' }).click();
      await grants.waitFor({ state: 'detached' });
      expect(await again()).toBe(false);
    });

    it.runIf(isDeep)('shows the messages of an agent, answers them, and writes to the agent', async () => {
      const { served, id } = await waiting();
      const { page, picture } = await open(served);
      const { token } = (await served.ask(`POST /v1/sessions/${id}/token`)).json;
      const asAgent = (what: string, body: unknown) => served.ask(`POST /v1/sessions/${id}/${what}`, { token, body });
      const evil = '<img src=x onerror="window.hacked=1">\u202e\u001b[31m';
      await asAgent('bell', { to: 'person:operator', text: `The tests pass.\n${evil}` });
      const asked = asAgent('whistle', { to: 'person:operator', text: 'Which port?', seconds: 30 });
      const whistle = page.getByRole('article', { name: 'whistle from agent:builder' });
      await whistle.getByText(', waits for your answer').waitFor();
      expect(await page.title()).toBe('(4) hopgate');
      expect(await page.locator('.wants .big').textContent()).toBe('2 answers');
      const bell = page.getByRole('article', { name: 'bell from agent:builder' });
      expect(await bell.locator('.message').textContent()).toBe(
        'The tests pass.\n<img src=x onerror="window.hacked=1">\\u{202e}\\u{1b}[31m',
      );
      // The first message is selected by two keys.
      await page.locator('h1').click();
      await page.keyboard.press('m');
      await page.keyboard.type('Port 80.');
      await page.keyboard.press('Enter');
      expect((await asked).json.answer).toMatchObject({ from: 'person:operator', act: 'answer', text: 'Port 80.' });
      await whistle.waitFor({ state: 'detached' });
      await bell.getByRole('button', { name: 'Mark as read' }).click();
      await bell.waitFor({ state: 'detached' });
      // The session records receipts with its next call.
      await asAgent('inbox/read', { messages: ['none'] });
      await page
        .getByRole('option', { name: /answered whistle to person:operator: Which port\? operator: Port 80\./ })
        .waitFor();

      await page.locator('.operator summary').click();
      const words = page.getByLabel('Reason, note or message');
      await words.fill('Look at the cart.');
      await page.getByRole('button', { name: 'Ring' }).click();
      await page.getByText('its row shows when the agent has read it').waitFor();
      const inbox = async () => (await served.ask(`GET /v1/sessions/${id}/inbox?unread=true`, { token })).json.messages;
      const [rung] = (await inbox()).filter(({ text }: { text: string }) => text === 'Look at the cart.');
      await asAgent('inbox/read', { messages: [rung.id] });
      await page.getByRole('option', { name: /read bell from operator assert: Look at the cart\./ }).waitFor();
      await words.fill('Which file?');
      await page.getByRole('button', { name: /^Whistle/ }).click();
      await until(async () => (await inbox()).some(({ text }: { text: string }) => text === 'Which file?'));
      const { id: ref } = (await inbox()).find(({ text }: { text: string }) => text === 'Which file?');
      await asAgent('bell', { act: 'answer', ref, text: 'src/cart.js' });
      await page.getByText('builder: src/cart.js').waitFor();
      await asAgent('whistle', { to: 'person:operator', text: 'Which host?', seconds: 0 });
      await whistle.getByText('no longer waits; your answer will arrive as a message').waitFor();
      // A whistle is shown although the first page of the inbox has only older messages.
      await page.route('**/v1/inbox?unread=true', (route) =>
        route.fulfill({ json: { messages: [], more: true, unread: 300 } }),
      );
      void asAgent('whistle', { to: 'person:operator', text: 'And now?', seconds: 30 });
      await whistle.getByText('And now?').waitFor();
      await page.getByText('300 messages for you; 1 shown').waitFor();
      await picture('messages');
      expect(await page.evaluate('window.hacked')).toBeUndefined();
    });

    it.runIf(isDeep)('notifies of a new request if the page is hidden', async () => {
      const { served, move, execute } = await waiting();
      const { page, context } = await open(served);
      await context.grantPermissions(['notifications']);
      await page.addInitScript(`
      globalThis.shown = [];
      Object.defineProperty(document, 'hidden', { get: () => true });
      globalThis.Notification = class { static permission = 'granted'; constructor(title) { shown.push(title); } };`);
      await page.reload();
      await page.locator('.request').nth(1).waitFor();
      await move('mode', { to: 'discuss' });
      await move('mode', { to: 'diagnose' });
      expect(await execute()).toBe(false);
      await page.waitForFunction('shown.length >= 2');
      expect(await page.evaluate('shown')).toContain('mode diagnose → execute');
      expect(await page.title()).toMatch(/^\(\d\) hopgate$/);
    });

    it.runIf(isDeep)('has no fault of accessibility in any theme and width, with requests and a grant', async () => {
      const { served, execute } = await waiting();
      const [{ id, hash }] = (await served.ask('GET /v1/approvals')).json.approvals;
      const grant = { times: 9 };
      await served.ask(`POST /v1/approvals/${id}`, { body: { verdict: 'yes', hash, by: 'mary', grant } });
      await execute();
      const more = await served.session();
      await served.ask(`POST /v1/sessions/${more.id}/mode`, { token: more.token, body: { to: 'diagnose' } });
      await served.ask(`POST /v1/sessions/${more.id}/mode`, { token: more.token, body: { to: 'execute' } });
      await served.ask(`POST /v1/sessions/${more.id}/bell`, {
        token: more.token,
        body: { to: 'person:operator', text: 'The cart adds both prices now. Shall the old sum stay for the mail?' },
      });
      const { page, picture } = await open(served);
      for (const [theme, width] of [
        ['light', 1280],
        ['dark', 1280],
        ['dark', 390],
        ['light', 390],
      ] as const) {
        const look = `${theme}-${width}`;
        await page.emulateMedia({ colorScheme: theme });
        await page.setViewportSize({ width, height: 900 });
        await page.reload();
        await page.getByRole('article', { name: 'bell from agent:builder' }).waitFor();
        await page.getByRole('region', { name: 'Grants' }).waitFor();
        for (const summary of await page.locator('.grant summary').all()) await summary.click();
        await picture(`inbox-${look}`);
        await page
          .locator('.inbox')
          .first()
          .evaluate((inbox) => inbox.scrollTo(0, 0));
        await picture(`inbox-top-${look}`);
        await page.evaluate(axe.source);
        const { violations } = (await page.evaluate('axe.run()')) as {
          violations: { id: string; nodes: { html: string }[] }[];
        };
        const faults = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`);
        expect(faults, look).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), look).toBeLessThanOrEqual(width);
      }
    });
  },
);
