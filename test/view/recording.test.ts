import { createHash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { recordSessions, renderRecordingPage } from '../../src/view/recording.ts';
import type { Recording } from '../../src/view/view-state.ts';
import { stage } from '../session/sessions.ts';

const EVIL = `</script><img src=x onerror=alert(1)>\u202e\u001b[2J`;

it('a recording is one page that runs only its own script, and no recorded text can break out of its data', async () => {
  const { session, store } = await stage({ agent: 'tester' });
  await session.setMode({ to: 'diagnose', reason: EVIL });
  await session.start('explore');
  await session.step({ tool: 'grep', args: { pattern: EVIL, path: 'src' } });
  const pin = { specs: session.specs, config: session.config };
  const recording = await recordSessions([{ id: session.id, folder: EVIL, pin, entries: store.entries(session.id) }]);
  const page = renderRecordingPage(recording, 'const end = "</script>";');
  expect(page).not.toMatch(/onerror|\u202e|\u001b|https?:/);
  const [, code] = /<script type="module">([\s\S]*?)<\/script>/.exec(page)!;
  expect(code).toBe('const end = "\\x3c/script>";');
  const hash = createHash('sha256').update(code!).digest('base64');
  expect(page).toContain(`default-src 'none'; script-src 'sha256-${hash}'`);
  const [, data] = /<script type="text\/plain">([^<]*)</.exec(page)!;
  const shown = JSON.parse(inflateRawSync(Buffer.from(data!, 'base64')).toString()) as Recording;
  expect(shown).toEqual(JSON.parse(JSON.stringify(recording)));
  expect(shown.sessions[0]!.frames.at(-1)!.row.action).toContain('\\u{202e}');
});
