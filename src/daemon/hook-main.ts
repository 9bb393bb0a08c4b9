#!/usr/bin/env node
import { join } from 'node:path';
import { stateHome } from '../project/state-home.ts';
import { NO_CACHE, useCodeCache } from './code-cache.ts';

/** Built, this is CommonJS. */
declare const require: Parameters<typeof useCodeCache>[2] | undefined;

// Where nobody else can put code; before anything that takes long is loaded.
const home = join(stateHome(process.env), 'compile-cache');
let cache = NO_CACHE;
if (typeof require === 'undefined') process.getBuiltinModule('node:module').enableCompileCache(home);
else cache = useCodeCache(home, import.meta.filename, require);
void import('./hook-process.ts').then(({ main }) => main(process.argv.slice(2), process.env, cache));
