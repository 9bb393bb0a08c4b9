#!/usr/bin/env node
import { runHookProcess } from './hook-process.ts';

// The compile cache is for this program, not for the commands that it starts.
delete process.env['NODE_COMPILE_CACHE'];
void runHookProcess(process.argv.slice(2), process.env);
