import type * as NodeModule from 'node:module';
import type * as Os from 'node:os';

/** Stands for `node:module` and `node:os` in the hook's bundle (see tsdown.config.ts): each is loaded when something of it is called. */

const os = (): typeof Os => process.getBuiltinModule('node:os');

export const homedir: typeof Os.homedir = () => os().homedir();
export const tmpdir: typeof Os.tmpdir = () => os().tmpdir();
export const userInfo = (): Os.UserInfo<string> => os().userInfo();
export const availableParallelism: typeof Os.availableParallelism = () => os().availableParallelism();

export const createRequire: typeof NodeModule.createRequire = (path) =>
  process.getBuiltinModule('node:module').createRequire(path);
