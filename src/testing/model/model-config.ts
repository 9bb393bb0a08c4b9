import { DEFAULT_PROJECT_CONFIG } from '../../spec/load/load-project-config.ts';
import type { ProjectConfig, SpecSet } from '../../spec/types.ts';

/** A repository that has everything a spec set can speak of: a test command, a deploy command, a remote, a host, a mask. */
export const TRIAL_CONFIG: ProjectConfig = {
  ...DEFAULT_PROJECT_CONFIG,
  test: [{ run: ['run', 'tests'], report: 'tap' }],
  deploy: { staging: { run: ['ship', 'staging'], network: false } },
  git: { remote: 'origin', branch: 'main' },
  web: { allow: ['docs.example.com'] },
};

/** What the made-up repository lets be written beside a spec's own paths: a folder, in which the specs lie, and what no scope can grant. */
const OWN_PATHS = ['extra/', 'hopgate.yaml'];

/** The made-up repository of a spec set. It names paths of its own for every peripheral, those that write nothing included. */
export function trialConfig({ peripherals }: SpecSet): ProjectConfig {
  const scopes = Object.values(peripherals).map(({ id, scope }) => [id, [...scope.rule.write, ...OWN_PATHS]] as const);
  return { ...TRIAL_CONFIG, specs: 'extra/policy', scopes: Object.fromEntries(scopes) };
}
