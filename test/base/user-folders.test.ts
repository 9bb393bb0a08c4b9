import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { homeFolder, userStateFolder, xdgFolder } from '../../src/base/user-folders.ts';
import { findStateFolders } from '../../src/tools/sandbox/mounts/layout.ts';

const real = userInfo().homedir;

it.each([
  ['/home/ann', '/home/ann'],
  ['', real],
  ['.', real],
  [undefined, real],
])('HOME %j gives the home folder %s', (HOME, home) => {
  expect(homeFolder({ HOME })).toBe(home);
  expect(xdgFolder({ HOME, XDG_CACHE_HOME: 'cache' }, 'XDG_CACHE_HOME', '.cache')).toBe(join(home, '.cache'));
  expect(xdgFolder({ HOME, XDG_CACHE_HOME: '/cache' }, 'XDG_CACHE_HOME', '.cache')).toBe('/cache');
});

it.each([
  ['HOME', ''],
  ['XDG_STATE_HOME', 'state'],
])('the sandbox hides the state folder also with %s=%j', (name, value) => {
  const before = process.env[name];
  process.env[name] = value;
  try {
    expect(findStateFolders()).toContain(userStateFolder(process.env));
  } finally {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  }
});
