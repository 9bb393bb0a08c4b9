import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { recordSessions, renderRecordingPage, type SessionToRecord } from '../../src/view/recording.ts';
import { exploringAt } from '../bench/gated-steps.ts';
import { isDeep } from '../depth.ts';
import { FIXTURE_SPECS } from '../fixture-specs.ts';
import { midGame } from '../server/mid-game.ts';
import { serveWorld } from '../server/serve-world.ts';
import { must, specsOf, stage } from '../session/sessions.ts';
import { builtPage } from './built-page.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const EVIL = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202e\u001b[31m${'x'.repeat(300)}`;

/** A session that was refused, changed a file and asked for an approval; with `steps` further steps. */
async function recorded(id: string, steps = 0): Promise<SessionToRecord> {
  const { session, store, clock } = await stage({ agent: id });
  await session.setMode({ to: 'diagnose', reason: EVIL });
  await session.start('explore');
  await session.step({ tool: 'grep', args: { pattern: EVIL, path: 'src' } });
  await session.step({ tool: 'write', args: { path: 'src/a.ts', content: 'x' } });
  await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'found' });
  await session.setMode({ to: 'execute', reason: 'change it', exitCriteria: 'tests pass' });
  await session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'before', new: 'after\u202e' } });
  for (let step = 0; step < steps; step++) await session.step({ tool: 'read', args: { path: `src/${step}.ts` } });
  clock.advance(1);
  await session.hop({ to: 'test', exit: 'tests-pass', reason: 'check', fruit: { 'commit-message': 'Fix a' } });
  await session.step({ tool: 'bash-test', args: {} });
  const pin = { specs: session.specs, config: session.config };
  return { id: session.id, folder: 'shop', pin, entries: store.entries(session.id) };
}

/** A session that hops once along a line of 40 peripherals, far from its first one. */
async function recordedOnLine(): Promise<SessionToRecord> {
  const stations = Array.from({ length: 40 }, (_, at): [string, string] => [
    `peripherals/p${at}.yaml`,
    `{ id: p${at}, purpose: p, tools: [read], scope: full-codebase, entry: [default, from-any], exit: { on: p${(at + 1) % 40} } }`,
  ]);
  const shared = ['tools.yaml', 'scopes.yaml'].map((name) => [name, readFileSync(join(FIXTURE_SPECS, name), 'utf8')]);
  const { session, store } = await stage({
    agent: 'line',
    specs: specsOf(Object.fromEntries([...shared, ...stations])),
  });
  await must(session.start('p20'));
  await must(session.hop({ to: 'p21', exit: 'on', reason: 'next' }));
  const pin = { specs: session.specs, config: session.config };
  return { id: session.id, folder: 'line', pin, entries: store.entries(session.id) };
}

describe.skipIf(CHROMIUM === undefined)(
  'the page in Chromium (skipped without Chromium: apt-get install chromium)',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'hopgate-page-'));
    let browser: Browser;
    const open: Page[] = [];

    beforeAll(async () => {
      copyFileSync(builtPage(), join(folder, 'page.js'));
      const script = readFileSync(builtPage(), 'utf8');
      const write = async (name: string, ...sessions: SessionToRecord[]) =>
        writeFileSync(join(folder, name), renderRecordingPage(await recordSessions(sessions), script));
      await write('one.html', await recorded('solo'));
      if (isDeep) {
        await write('many.html', ...(await Promise.all(['ann', 'bob', 'cyd'].map((id) => recorded(id)))));
        await write('long.html', await recorded('long', 3000));
        await write('line.html', await recordedOnLine());
      }
      browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] });
    });
    afterEach(async () => {
      await Promise.all(open.splice(0).map((page) => page.close()));
    });
    afterAll(async () => {
      await browser?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Opens a recording. A message of the console, such as a breach of the policy, fails the test at `close`. */
    async function show(name: string, { theme = 'light' as 'light' | 'dark', width = 1280 } = {}) {
      const page = await browser.newPage({
        viewport: { width, height: 800 },
        colorScheme: theme,
        reducedMotion: 'reduce',
      });
      open.push(page);
      const faults: string[] = [];
      page.on('console', (message) => faults.push(message.text()));
      page.on('pageerror', (error) => faults.push(error.message));
      await page.goto(`file://${join(folder, name)}`);
      await page.locator('hopgate-view main').waitFor();
      const scrub = (entry: number) => page.getByRole('slider').fill(String(entry));
      return { page, faults, scrub, answer: (of: string) => page.locator(`.${of} .big`).textContent() };
    }

    it('has a script of at most 80 kB for a browser that unpacks gzip', () => {
      expect(gzipSync(readFileSync(join(folder, 'page.js'))).length).toBeLessThan(80_000);
    });

    it('shows the place of the session, its current call and what it waits for, at any entry', async () => {
      const { page, faults, scrub, answer } = await show('one.html');
      expect(await answer('where')).toBe('test');
      expect(await answer('doing')).toBe('bash-test');
      expect(await page.locator('.node.here').textContent()).toContain('test');
      expect(await page.locator('.way.asks').textContent()).toContain('pass needs your approval');
      await scrub(4);
      expect(await answer('where')).toBe('explore');
      expect(await answer('doing')).toBe('✗ refused: write src/a.ts x');
      expect(await page.locator('.doing .remedy').textContent()).toContain('hop to edit');
      expect(await page.locator('.arrow.lit title').textContent()).toContain('explore to edit');
      await page.keyboard.press('ArrowRight');
      expect(await answer('doing')).not.toContain('refused');
      expect(faults).toEqual([]);
    });

    it.runIf(isDeep)('can be an element of a foreign page, whose title, keys and size it leaves alone', async () => {
      writeFileSync(
        join(folder, 'foreign.html'),
        '<!doctype html><title>mine</title><div contenteditable>note</div><script type="module" src="page.js"></script>' +
          '<hopgate-view src="one.html" style="height:500px"></hopgate-view><hopgate-view src="none.html"></hopgate-view><hopgate-view src="one.html"></hopgate-view>',
      );
      const server = createServer((request, response) => {
        const file = join(folder, basename(request.url!));
        response.statusCode = existsSync(file) ? 200 : 404;
        response.setHeader('content-type', file.endsWith('.js') ? 'text/javascript' : 'text/html');
        response.end(existsSync(file) ? readFileSync(file) : '');
      });
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      onTestFinished(() => void server.close());
      const page = await browser.newPage();
      open.push(page);
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/foreign.html`);
      await page.locator('.where .big').filter({ hasText: 'test' }).nth(1).waitFor();
      await page.getByText('hopgate-view: none.html: HTTP 404').waitFor();
      await page.locator('[contenteditable]').press('a');
      expect(await page.locator('[contenteditable]').textContent()).toContain('a');
      expect(await page.title()).toBe('mine');
      expect((await page.locator('hopgate-view').first().boundingBox())?.height).toBe(500);
      // A search in one view leaves the other view alone.
      const [first, last] = [page.locator('hopgate-view').first(), page.locator('hopgate-view').last()];
      const rows = await last.locator('.row').count();
      await first.getByLabel('Search the entries').fill('no such thing');
      await first.locator('.row').first().waitFor({ state: 'detached' });
      expect(await last.locator('.row').count()).toBe(rows);
    });

    it.runIf(isDeep)('moves by the keyboard from row to row, and shows a change as a diff', async () => {
      const { page, scrub } = await show('one.html');
      await page.getByRole('listbox').focus();
      await scrub(9);
      await page.getByRole('listbox').focus();
      for (let row = 0; row < 3; row++) await page.keyboard.press('ArrowDown');
      await page.getByRole('option', { name: 'edit src/a.ts' }).click();
      expect(await page.locator('.diff del').textContent()).toBe('- before');
      expect(await page.locator('.diff ins').textContent()).toBe('+ after\\u{202e}');
    });

    it.runIf(isDeep)('searches rows by tool, path and denial code', async () => {
      const { page } = await show('one.html');
      const found = async (words: string) => {
        await page.getByLabel('Search the entries').fill(words);
        return page.locator('.row').allInnerTexts();
      };
      expect(await found('tool-not-allowed')).toEqual([expect.stringContaining('write src/a.ts x')]);
      expect(await found('edit a.ts')).toEqual([expect.stringContaining('edit src/a.ts before after')]);
      expect(await found('no such thing')).toEqual([]);
    });

    it('shows markup from an agent as text', async () => {
      const { page, faults } = await show('one.html');
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      expect(await page.locator('hopgate-view img').count()).toBe(0);
      expect(await page.locator('main').textContent()).toContain('<img src=x onerror=');
      expect(await page.locator('main').textContent()).not.toMatch(/\u202e|\u001b/);
      expect(faults).toEqual([]);
    });

    it.runIf(isDeep)('has only a few rows of a long session in the document', async () => {
      const { page, answer, scrub } = await show('long.html');
      expect(await page.locator('.row').count()).toBeLessThan(60);
      expect(await answer('where')).toBe('test');
      await scrub(1500);
      expect(await answer('where')).toBe('edit');
      // The list scrolls to the row and then draws it.
      await page.locator('.row.selected').waitFor();
    });

    it.runIf(isDeep)(
      'draws a graph of 40 peripherals large enough to read, and scrolls to the place of the session',
      async () => {
        for (const width of [1280, 390]) {
          const { page } = await show('line.html', { width });
          const here = page.locator('.node.here');
          expect(await here.textContent()).toContain('p21');
          const [graph, node] = [await page.locator('.graph').boundingBox(), await here.boundingBox()];
          expect(node!.height).toBeGreaterThan(15);
          expect(node!.y).toBeGreaterThan(graph!.y);
          expect(node!.y + node!.height).toBeLessThan(graph!.y + graph!.height);
        }
      },
    );

    it.runIf(isDeep)('shows several sessions as cards, and opens one of them', async () => {
      const { page, answer } = await show('many.html');
      expect(await page.locator('.card').count()).toBe(3);
      await page.getByRole('button', { name: /bob/ }).click();
      expect(await page.locator('h1').textContent()).toContain('bob');
      expect(await answer('where')).toBe('test');
    });

    it('follows a session of a running server, asks its gate, and hops as the operator', async () => {
      const served = await serveWorld({ 'src/a.js': 'export const a = 1;\n' });
      const { id, token } = await served.session();
      const move = (what: string, body: unknown) => served.ask(`POST /v1/sessions/${id}/${what}`, { token, body });
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      open.push(page);
      const faults: string[] = [];
      page.on('console', (message) => /policy|trusted/i.test(message.text()) && faults.push(message.text()));
      page.on('pageerror', (error) => faults.push(error.message));
      await page.route('**/page.js', (route) => route.fulfill({ path: join(folder, 'page.js') }));
      const list = Promise.withResolvers<void>();
      await page.route('**/v1/sessions?*', async (route) => {
        await list.promise;
        await route.continue();
      });
      await page.goto(`${served.http.address}/#code=${served.http.issueCode()}`);
      await page.getByText('Loading the sessions').waitFor();
      list.resolve();
      await page.locator('.node.here').waitFor();
      expect(await page.getByText('Loading the sessions').count()).toBe(0);
      expect(new URL(page.url()).hash).toBe('');
      await move('step', { tool: 'write', args: { path: 'src/a.js', content: '' } });
      await page.locator('.doing.refused').waitFor();
      await page.getByRole('button', { name: /^edit: / }).focus();
      await page.keyboard.press('Enter');
      await page.locator('.tool').filter({ hasText: 'write' }).hover();
      await page.getByText('write: explore has no tool write').waitFor();
      await page.locator('.operator summary').click();
      await page.getByLabel('Reason, note or message').fill('go on there');
      await page.getByRole('button', { name: 'Hop to edit (hop-edit)' }).click();
      await page.locator('.where .big').filter({ hasText: 'edit' }).waitFor();
      await page.getByText('explore left by hop-edit, asked by operator').waitFor();
      const execute = () => move('mode', { to: 'execute', reason: 'change it', exitCriteria: 'tests pass' });
      await move('mode', { to: 'diagnose', reason: 'look' });
      await execute();
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      expect(await page.title()).toBe('(1) hopgate');
      await page.locator('h1').click();
      await page.keyboard.press('a');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' });
      expect((await execute()).json.ok).toBe(true);
      await page
        .locator('.mode')
        .filter({ hasText: /execute/i })
        .waitFor();
      await page.locator('.detail pre').getByText('"event": "mode"').waitFor({ state: 'attached' });
      await page.route('**/evidence?*', (route) => route.abort());
      await page.locator('.row').first().click();
      expect(await page.locator('.detail pre').textContent()).toBe('');
      expect(faults).toEqual([]);
    });

    it.runIf(isDeep)(
      'stays logged in beside another page, logs in again with a new code, and shows what it can read',
      async () => {
        const served = await serveWorld();
        const sessions = [await served.session(), await served.session()];
        for (const { id, token } of sessions)
          for (const to of ['diagnose', 'execute'])
            await served.ask(`POST /v1/sessions/${id}/mode`, { token, body: { to, reason: 'r', exitCriteria: 'x' } });
        const [request] = (await served.ask('GET /v1/approvals')).json.approvals;
        const context = await browser.newContext();
        served.later(() => context.close());
        await context.route('**/page.js', (route) => route.fulfill({ path: join(folder, 'page.js') }));
        for (const unreadable of [`${sessions[0]!.id}/snapshot`, `approvals/${request.id}`, 'grants'])
          await context.route(`**/${unreadable}`, (route) => route.fulfill({ status: 500, json: {} }));
        const login = () => `${served.http.address}/#code=${served.http.issueCode()}`;
        const [first, second] = [await context.newPage(), await context.newPage()];
        for (const page of [first, second]) {
          page.setDefaultTimeout(120_000);
          await page.goto(login());
          await page.locator('.node.here').waitFor();
          await page.locator('.request').waitFor();
          expect(await page.locator('.trouble').textContent()).toBe('the server answered 500');
        }
        await first.reload();
        await first.locator('.node.here').waitFor();
        await context.clearCookies();
        await first.reload();
        await first.getByText('the login of this page has ended').waitFor();
        expect(await first.locator('.badge').textContent()).toBe('offline');
        expect(await first.getByText('No sessions yet').count()).toBe(0);
        await first.reload();
        await first.getByText('not logged in').waitFor();
        expect(await first.locator('.badge').textContent()).toBe('offline');
        await first.goto(login());
        await first.locator('.node.here').waitFor();
      },
    );

    it.runIf(isDeep)(
      'names the shown session in its address, also after a reload, after Back, and for a session that is not listed',
      async () => {
        const served = await serveWorld();
        const sessions = [await served.session(), await served.session()] as const;
        const [ann, bob] = [sessions[0].id, sessions[1].id];
        await served.ask(`POST /v1/sessions/${bob}/mode`, { token: sessions[1].token, body: { to: 'diagnose' } });
        const context = await browser.newContext();
        served.later(() => context.close());
        await context.route('**/page.js', (route) => route.fulfill({ path: join(folder, 'page.js') }));
        await context.route('**/sessions?limit=*', (route) =>
          route.fulfill({
            json: { sessions: [{ session: bob, root: served.root, closed: false }], next: bob },
          }),
        );
        const page = await context.newPage();
        page.setDefaultTimeout(120_000);
        const opens = async (id: string) => {
          await page.locator('.id').filter({ hasText: id }).waitFor();
          await page.getByRole('listbox', { name: id === ann ? 'Entries, 2' : 'Entries, 3' }).waitFor();
        };
        await page.goto(`${served.http.address}/#code=${served.http.issueCode()}&session=${ann}`);
        await opens(ann);
        await page.getByRole('button', { name: 'all sessions' }).click();
        await page.getByText('Older sessions are not shown here').waitFor();
        await page.locator('.card').filter({ hasText: 'diagnose' }).click();
        await opens(bob);
        await page.goBack();
        await page.goBack();
        await opens(ann);
        // The page stays, and only the session in it changes.
        await page.evaluate(`location.hash = '#session=${bob}'`);
        await opens(bob);
        await page.reload();
        await opens(bob);
      },
    );

    it.runIf(isDeep)('shows an alarm while the server does not answer, although the event stream is open', async () => {
      const served = await serveWorld();
      await served.session();
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      open.push(page);
      await page.route('**/page.js', (route) => route.fulfill({ path: join(folder, 'page.js') }));
      await page.goto(`${served.http.address}/#code=${served.http.issueCode()}`);
      await page.locator('.node.here').waitFor();
      await page.route('**/v1/grants', (route) => route.abort());
      await page.getByText('The server does not answer').waitFor();
      await page.unroute('**/v1/grants');
      await page.locator('.trouble').waitFor({ state: 'detached' });
      const answers = Promise.withResolvers<void>();
      await page.route('**/v1/grants', async (route) => {
        await answers.promise;
        await route.continue();
      });
      await page.locator('.badge.offline').waitFor();
      await page.getByText('The server does not answer').waitFor();
      answers.resolve();
      await page.locator('.badge.live').waitFor();
      await page.locator('.trouble').waitFor({ state: 'detached' });
    });

    it.runIf(isDeep)('moves an agent out of a world in the middle of a game, and the game is kept', async () => {
      const { served, post, play, house } = await midGame();
      const before = await house();
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      open.push(page);
      await page.route('**/page.js', (route) => route.fulfill({ path: join(folder, 'page.js') }));
      await page.goto(`${served.http.address}/#code=${served.http.issueCode()}`);
      await page.locator('.where .big').filter({ hasText: 'alfworld' }).waitFor();
      await page.locator('.operator summary').click();
      await page.getByLabel('Reason, note or message').fill('I need you');
      await page.getByRole('button', { name: 'Hop to chat (user-request)' }).click();
      await page.locator('.where .big').filter({ hasText: 'chat' }).waitFor();
      expect(await house()).toBe(before);
      expect((await post('hop', { to: 'alfworld', reason: 'back' })).json).toMatchObject({ ok: true });
      expect(await play('look')).toMatchObject({ ok: true, result: { step: 3 } });
    });

    // The test writes two thousand entries to a real disk.
    it.runIf(isDeep)(
      'shows a long session of a server from its end, and its earlier rows when they are loaded',
      async () => {
        const served = await serveWorld();
        const store = sqliteStore(join(ensureStateDir(served.root, served.env), 'evidence.db'));
        served.later(() => store.close());
        const session = await exploringAt(store, served.root);
        for (let step = 0; step < 2_050; step++)
          await session.step({ tool: 'read', args: { path: `src/n${step}.ts` } });
        const page = await browser.newPage();
        page.setDefaultTimeout(120_000);
        open.push(page);
        await page.route('**/page.js', (route) => route.fulfill({ path: join(folder, 'page.js') }));
        // The history is loaded only after the rows were looked at.
        const history = Promise.withResolvers<void>();
        let [asked, bytes] = [0, 0];
        await page.route('**/frames?*', async (route) => {
          asked++;
          await history.promise;
          await route.continue();
        });
        page.on('response', async (response) => {
          if (response.url().endsWith('/snapshot')) bytes = (await response.body()).length;
        });
        await page.goto(`${served.http.address}/#code=${served.http.issueCode()}`);
        await page.getByText('src/n2049.ts').first().waitFor();
        expect(await page.locator('.where .big').textContent()).toBe('explore');
        await expect.poll(() => asked).toBe(1);
        expect(bytes).toBeLessThan(200_000);
        expect(await page.getByRole('slider').isDisabled()).toBe(true);
        await session.step({ tool: 'read', args: { path: 'src/late.ts' } });
        history.resolve();
        await page.locator('.timeline output').filter({ hasText: '2054/2054' }).waitFor();
        await page.getByRole('slider').fill('102');
        expect(await page.locator('.doing .big').textContent()).toBe('read src/n99.ts');
        expect(await page.locator('.row.selected').textContent()).toContain('src/n99.ts');
      },
    );

    const looks = [
      ['one.html', 'light', 1280],
      ['many.html', 'dark', 1280],
      ['one.html', 'dark', 390],
    ] as const;
    it.runIf(isDeep).each(looks)(
      'has no fault of accessibility and fits the width: %s in %s at %i pixels',
      async (name, theme, width) => {
        const { page, scrub } = await show(name, { theme, width });
        if (name === 'one.html') await scrub(4);
        await page.evaluate(axe.source);
        const { violations } = (await page.evaluate('axe.run()')) as {
          violations: { id: string; nodes: { html: string }[] }[];
        };
        expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      },
    );
  },
);
