/** Measures the tables of docs/does-it-help.md again: `npm run does-it-help`. A minute on a small machine. */
import { writeFileSync } from 'node:fs';
import { measureAll, PAGE, pageWith } from './page.ts';

writeFileSync(PAGE, pageWith(await measureAll()));
console.log(`wrote ${PAGE}`);
