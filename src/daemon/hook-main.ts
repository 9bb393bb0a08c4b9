#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { main } from './hook-process.ts';
import { stateHome } from './state-home.ts';

// Where nobody else can put code; before what takes long is loaded.
enableCompileCache(join(stateHome(process.env), 'compile-cache'));
void main(process.argv.slice(2), process.env);
