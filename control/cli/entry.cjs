#!/usr/bin/env node
// What the command `offhook` of the published package runs: checks Node's version in syntax that any Node can read, then hands
// over to main.ts. An older Node would fail on the first import, with a stack in place of a reason.
'use strict';
var version = process.versions.node.split('.');
// The least is also what the package's "engines" say.
if (version[0] < 22 || (Number(version[0]) === 22 && version[1] < 13)) {
  console.error(
    'offhook needs Node 22.13 or newer, and this is ' + process.version + ' (' + process.execPath + ').'
  );
  process.exit(1);
}
require('./load.cjs');
