'use strict';

// Starts the command line from its TypeScript files. An old Node refuses a TypeScript file by its name, before any
// check in it could run, so the check is in a file of its own.
require('./check-node.cjs');
import('./main.ts');
