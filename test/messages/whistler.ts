import { openSession } from '../../src/open-session.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';

/**
 * Whistles and waits until it is killed: `node whistler.ts DATABASE ROOT TO`. Prints the id of its session once the
 * wait is in the store.
 */
const [store = '', root = '', to = ''] = process.argv.slice(2);
const builtIn = await loadSpecs('specs');
const chat = { ...builtIn.peripherals['chat']!, tools: ['whistle'] };
const session = await openSession({
  root,
  store,
  agent: 'ann',
  specs: { ...builtIn, peripherals: { ...builtIn.peripherals, chat } },
});
await session.start('chat');
const { sqliteStore } = await import('../../src/stores/sqlite.ts');
const look = sqliteStore(store);
void session.step({ tool: 'whistle', args: { to, text: 'Which port?', seconds: 600 } });
while ((await look.messages!.waits(0)).length === 0) await new Promise((done) => setTimeout(done, 20));
process.stdout.write(`${session.id}\n`);
