import { isPathWithinAny } from '../gate/scope/locate-path.ts';
import { isExcludingPattern } from '../spec/path-patterns.ts';
import { DEFAULT_PROJECT_CONFIG } from '../spec/resolve/parse-project-config.ts';
import type { ProjectConfig, SpecSet } from '../spec/types.ts';

/**
 * Reduces a hopgate.yaml that the operator does not trust: it can only restrict the spec and the defaults. Its masks
 * are added without their exceptions, its scopes are reduced to the spec's own paths; its commands, hosts, folders, MCP
 * servers, spec set and `enforce: false` are ignored.
 */
export function narrowConfig(
  stated: ProjectConfig,
  specs: SpecSet,
): { readonly config: ProjectConfig; readonly ignored: readonly string[] } {
  const defaults = DEFAULT_PROJECT_CONFIG;
  const scopes = Object.entries(stated.scopes).flatMap(([id, paths]) => {
    const specPaths = Object.hasOwn(specs.peripherals, id) ? specs.peripherals[id]!.scope.rule.write : null;
    return specPaths === null ? [] : [{ id, paths, kept: commonWritePaths(paths, specPaths) }];
  });
  const ignored = [
    ...(stated.specs === defaults.specs ? [] : ['specs']),
    ...scopes.filter(({ paths, kept }) => paths.some((path) => !kept.includes(path))).map(({ id }) => `scopes.${id}`),
    ...(stated.test.length === 0 ? [] : ['test']),
    ...(stated.install === undefined ? [] : ['install']),
    ...(Object.keys(stated.deploy).length === 0 ? [] : ['deploy']),
    ...(stated.git === null && stated.commits === undefined ? [] : ['git']),
    ...(stated.web.allow.length === 0 ? [] : ['web']),
    ...(stated.mask.some((mask) => mask.startsWith('!') && !defaults.mask.includes(mask)) ? ['mask'] : []),
    ...(stated.imports === undefined ? [] : ['imports']),
    ...(stated.toolchains.length === 0 ? [] : ['toolchains']),
    ...(stated.programs === undefined ? [] : ['programs']),
    ...(stated.home === undefined ? [] : ['home']),
    ...(stated.cache === undefined ? [] : ['cache']),
    ...(stated.upstream === undefined ? [] : ['upstream']),
    ...(stated.enforce === undefined ? [] : ['enforce']),
  ];
  return {
    ignored,
    config: {
      ...defaults,
      scopes: Object.fromEntries(scopes.map(({ id, kept }) => [id, kept])),
      mask: [...defaults.mask, ...stated.mask.filter((mask) => !mask.startsWith('!') && !defaults.mask.includes(mask))],
    },
  };
}

/**
 * The paths that both lists grant, and the exclusions of both. Of two nested paths, the deeper one is granted; a glob
 * that begins with `**` is granted below the paths of the other list.
 */
function commonWritePaths(a: readonly string[], b: readonly string[]): readonly string[] {
  const pathsWithin = (paths: readonly string[], folders: readonly string[]): readonly string[] => {
    const literal = folders.filter((path) => !isWild(path));
    return paths
      .filter((path) => !isExcludingPattern(path))
      .flatMap((path) => {
        if (isPathWithinAny(literal, normalisePath(path)) || folders.includes(path)) return [path];
        return path.startsWith('**/') ? literal.map((folder) => `${normalisePath(folder)}/${path}`) : [];
      });
  };
  const shared = pathsWithin(a, b).concat(pathsWithin(b, a));
  return shared.length === 0
    ? []
    : [...new Set([...shared, ...a.filter(isExcludingPattern), ...b.filter(isExcludingPattern)])];
}

const isWild = (path: string): boolean => /[*?[{(!]/.test(path);

const normalisePath = (path: string): string => path.replace(/^(?:\.\/)+/, '').replace(/(?<!\/)\/+$/, '') || '.';
