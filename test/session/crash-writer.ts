import { createSession } from '../../src/session/create-session.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { fixtureSpecs } from '../fixture-specs.ts';

/**
 * Writes a session until it is killed: `node crash-writer.ts DATABASE [PLACE]`. Prints `session ID`, then `ran N` from
 * inside of its tool, and `seq N` for the last entry that each call acknowledged. At the tenth edit it stops and waits
 * to be killed: inside of the tool if the place is `inside`, after the answer if it is `between`.
 */
const [database, place] = process.argv.slice(2);
if (database === undefined) throw new Error('name a database');
const say = (line: string) => process.stdout.write(`${line}\n`);
const STOPS_AT = 10;
const untilKilled = () => new Promise((done) => setTimeout(done, 600_000));
let ran = 0;
const edit = async () => {
  say(`ran ${++ran}`);
  if (place === 'inside' && ran === STOPS_AT) await untilKilled();
  await new Promise((done) => setTimeout(done, Math.random() * 4));
  return {
    outcome: { status: 'ok' as const, result: { n: ran } },
    effects: [{ path: 'src/a.ts', op: 'modify' as const }],
  };
};
let next = 0;
const session = await createSession(
  {
    store: sqliteStore(database),
    clock: Date,
    ids: { next: (kind) => `${kind}-${process.pid}-${next++}` },
    backends: [scriptedBackend({ edit, read: { path: 'src/a.ts', text: 'a' } })],
    approver: { via: 'approver', approve: async () => ({ by: 'operator' }) },
  },
  {
    specs: fixtureSpecs,
    config: DEFAULT_PROJECT_CONFIG,
    agent: 'crasher',
    root: process.cwd(),
    unsafeNoSandbox: false,
    version: '0.0.0',
  },
);
say(`session ${session.id}`);
const take = async (call: Promise<{ readonly evidence: readonly { readonly seq: number }[] }>) =>
  say(`seq ${(await call).evidence.at(-1)?.seq}`);
await take(session.start('explore'));
await take(session.setMode({ to: 'diagnose' }));
await take(session.setMode({ to: 'execute' }));
for (;;) {
  await take(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'there' }));
  for (let n = 0; n < 5; n++) {
    await take(session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } }));
    if (place === 'between' && ran === STOPS_AT) await untilKilled();
    await take(session.step({ tool: 'read', args: ['src/a.ts'] }));
    await take(session.step({ tool: 'nothing' }));
  }
  await take(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'look back' }));
  await take(session.hop({ to: 'explore', exit: 'par-generated', reason: 'again' }));
}
