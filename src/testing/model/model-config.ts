import { DEFAULT_PROJECT_CONFIG } from '../../spec/resolve/parse-project-config.ts';
import type { ProjectConfig, SpecSet } from '../../spec/types.ts';

/** A repository's config with all that a spec set can refer to: test, install, deploy command, remote, host, mask. */
export const MADE_UP_CONFIG: ProjectConfig = {
  ...DEFAULT_PROJECT_CONFIG,
  test: [{ run: ['run', 'tests'], report: 'tap' }],
  install: [{ run: ['install', 'all'], scripts: false, approval: false }],
  deploy: { staging: { run: ['ship', 'staging'], network: false } },
  git: { remote: 'origin', branch: 'main' },
  web: { allow: ['docs.example.com'] },
};

/** More writable paths: a folder that contains the spec set, and a protected file, which no scope can grant. */
const OWN_PATHS = ['extra/', 'hopgate.yaml'];

/** The config of a spec set's made-up repository. It names write paths for each peripheral, even one without writes. */
export function makeModelConfig({ peripherals }: SpecSet): ProjectConfig {
  const scopes = Object.values(peripherals).map(({ id, scope }) => [id, [...scope.rule.write, ...OWN_PATHS]] as const);
  return { ...MADE_UP_CONFIG, specs: 'extra/policy', scopes: Object.fromEntries(scopes) };
}
