/** What no tool shows where `hopgate.yaml` has no `mask`. Patterns without `/` hold at any depth. */
export const DEFAULT_MASKS: readonly string[] = [
  '.env',
  '.env.!(*example|*sample|*template|*dist)',
  '.npmrc',
  '.netrc',
  '.pypirc',
  '.git-credentials',
  '**/.aws/credentials',
  '**/.docker/config.json',
  '**/*.pem',
  '**/*.key',
  '*.p12',
  '*.pfx',
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
];
