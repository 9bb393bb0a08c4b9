#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { stateHome } from './places.ts';

// Where nobody else can put code; before anything else is loaded.
enableCompileCache(join(stateHome(process.env), 'compile-cache'));
void import('./hook-process.ts').then(({ main }) => main(process.argv.slice(2), process.env));
