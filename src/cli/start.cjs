'use strict';

// Starts the command line from its TypeScript files. An old Node refuses a TypeScript file by its name, before any
// check in it could run, so the check is in a file of its own.
require('./check-node.cjs');
// Node compiles the files once only, which halves the time of a command.
require('node:module').enableCompileCache(require('node:path').join(__dirname, '../../node_modules/.cache/hopgate'));
import('./main.ts');
