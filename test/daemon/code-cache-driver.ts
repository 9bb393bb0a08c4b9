import { createRequire } from 'node:module';
import { join } from 'node:path';
import { useCodeCache } from '../../src/daemon/code-cache.ts';

/** What the chunks of a folder say, loaded as the hook program loads its own. `node code-cache-driver.ts FOLDER HOME KIND` */
const [folder = '', home = '', kind = ''] = process.argv.slice(2);
const entry = join(folder, 'main.cjs');
const load = createRequire(entry);
const cache = useCodeCache(home, entry, load as unknown as Parameters<typeof useCodeCache>[2]);
const { say } = load(join(folder, 'a.cjs')) as { say: () => string };
const { isOne } = load(join(folder, 'b.cjs')) as { isOne: () => boolean };
process.stdout.write(isOne() ? say() : 'a chunk was loaded twice');
cache.keep(kind);
