'use strict';

// Starts the command line from its TypeScript files. An old Node refuses such a file by its name, before any check in
// it, so that this file has to come first.
require('./check-node.cjs');
import('./main.ts');
