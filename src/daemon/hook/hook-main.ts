#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { stateHome } from '../../base/user-folders.ts';

// The compile cache is in a folder that only this user can write. It is set before any large module is loaded.
enableCompileCache(join(stateHome(process.env), 'compile-cache'));
void import('./hook-process.ts').then(({ runHookProcess }) => runHookProcess(process.argv.slice(2), process.env));
