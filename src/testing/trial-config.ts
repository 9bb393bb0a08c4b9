import { DEFAULT_PROJECT_CONFIG } from '../spec/load-project-config.ts';
import type { ProjectConfig } from '../spec/types.ts';

/** A repository that has everything a spec set can speak of: a test command, a deploy command, a remote, a host, a mask. */
export const TRIAL_CONFIG: ProjectConfig = {
  ...DEFAULT_PROJECT_CONFIG,
  test: [{ run: ['run', 'tests'], report: 'tap' }],
  deploy: { staging: { run: ['ship', 'staging'], network: false } },
  git: { remote: 'origin', branch: 'main' },
  web: { allow: ['docs.example.com'] },
};
