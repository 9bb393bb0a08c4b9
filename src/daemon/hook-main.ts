#!/usr/bin/env node
import { join } from 'node:path';
import { useCodeCache } from './code-cache.ts';
import { stateHome } from './state-home.ts';

// Where nobody else can put code; before anything that takes long is loaded.
const cache = useCodeCache(join(stateHome(process.env), 'compile-cache'), import.meta.filename);
void import('./hook-process.ts').then(({ main }) => main(process.argv.slice(2), process.env, cache));
