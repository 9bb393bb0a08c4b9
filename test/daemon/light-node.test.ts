import * as nodeModule from 'node:module';
import * as os from 'node:os';
import { expect, it } from 'vitest';
import * as light from '../../src/daemon/light-node.ts';

it('says what Node says of the machine and the user', () => {
  expect(light.homedir()).toBe(os.homedir());
  expect(light.tmpdir()).toBe(os.tmpdir());
  expect(light.userInfo()).toEqual(os.userInfo());
  expect(light.availableParallelism()).toBe(os.availableParallelism());
});

it('loads as Node does', () => {
  expect(light.createRequire(import.meta.url)('zod')).toBe(nodeModule.createRequire(import.meta.url)('zod'));
});
