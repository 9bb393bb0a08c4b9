/** Plays all cases (or those whose name holds the first argument) in a process of its own and prints the outcome as JSON. */
import { ALL_CASES } from './cases/all.ts';
import { nameOf, play } from './play.ts';

const [wanted = ''] = process.argv.slice(2);
console.log(JSON.stringify(await play(ALL_CASES.filter((one) => nameOf(one).includes(wanted)))));
