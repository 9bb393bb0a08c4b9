import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Extensions, useCodeCache } from '../../src/daemon/code-cache.ts';

/** What the chunks of a folder say, loaded as the hook program loads its own. `node code-cache-driver.ts FOLDER HOME KIND` */
const [folder = '', home = '', kind = ''] = process.argv.slice(2);
const entry = join(folder, 'main.cjs');
const load = createRequire(entry);
const cache = useCodeCache(home, entry, load.extensions as unknown as Extensions);
const { say } = load(join(folder, 'a.cjs')) as { say: () => string };
process.stdout.write(say());
cache.keep(kind);
