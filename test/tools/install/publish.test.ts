import { expect, test, vi } from 'vitest';
import { isDeep } from '../../depth.ts';
import { ok, scratch } from '../shell/support.ts';
import { serveRegistry } from './registry.ts';

test.runIf(isDeep)('npm publish sends a package to a registry with a token that is not recorded', async () => {
  const { place, url, published } = await serveRegistry([]);
  vi.stubEnv('TEST_NPM_TOKEN', 'npm_0123456789abcdefTOKEN');
  const root = scratch({ 'package.json': '{"name":"mine","version":"1.0.0"}', 'index.js': '' });
  const publish = {
    run: ['sh', '-c', `echo '//${place}/:_authToken=\${NPM_TOKEN}' > ~/.npmrc && npm publish --registry=${url}`],
    network: false,
    hosts: [place],
    env: { NPM_TOKEN: '${TEST_NPM_TOKEN}' },
  };
  const report = await ok(root, 'bash-deploy', { name: 'publish' }, { config: { deploy: { publish } } });
  vi.unstubAllEnvs();
  expect(report.result).toMatchObject({ exit: 0 });
  expect(published).toEqual([{ name: 'mine', token: 'Bearer npm_0123456789abcdefTOKEN' }]);
  expect(JSON.stringify(report)).not.toContain('0123456789abcdefTOKEN');
});
