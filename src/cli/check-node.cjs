'use strict';

// Uses only old syntax, so that it runs on any Node: an old Node cannot even load the files that this one guards.
var parts = process.versions.node.split('.');
var major = Number(parts[0]);
var minor = Number(parts[1]);

if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(
    'hopgate: Node ' +
      process.versions.node +
      ' is too old; 22.13 or newer is needed.\n' +
      '  In a checkout of hopgate: run "npm ci" with install scripts allowed; it puts Node 24 into node_modules/.bin, which "npm run ..." uses.\n' +
      '  Elsewhere: install Node 22.13 or newer (https://nodejs.org), then run this again.\n',
  );
  process.exit(2);
}
