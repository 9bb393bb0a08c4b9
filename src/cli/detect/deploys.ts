import type { FoundDeploy } from './found.ts';
import { makeDeploys } from './makefile.ts';
import { packageDeploys } from './package-json.ts';
import type { Tree } from './tree.ts';

const SCRIPTS = ['deploy.sh', 'bin/deploy', 'scripts/deploy.sh', 'script/deploy'];

/** Every deploy command found. Of equal names, package.json comes before the Makefile, that before a script. */
export function deploys(tree: Tree): readonly FoundDeploy[] {
  const scripts = SCRIPTS.filter((path) => tree.read(path) !== null).map((path) => ({
    name: 'deploy',
    run: [`./${path}`],
    because: path,
  }));
  const all = [...packageDeploys(tree), ...makeDeploys(tree), ...scripts];
  return all.filter((found, i) => all.findIndex(({ name }) => name === found.name) === i);
}
