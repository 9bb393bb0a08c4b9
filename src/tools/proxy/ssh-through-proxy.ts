import { readFileSync } from 'node:fs';
import type { ToolCall } from '../../ports/tool-backend.ts';
import type { CommandAccess } from '../../spec/types.ts';
import { checkCredentialFile } from '../git/credentials/credential-file.ts';
import { readOnlyMount } from '../git/credentials/login.ts';
import type { SandboxMount } from '../sandbox/mount.ts';
import { expandTilde, PROXY_ADDRESS } from '../sandbox/mounts/layout.ts';
import { isStop, type ToolStop } from '../workspace/tool-stop.ts';

/** Path of a script that opens a tunnel through the proxy and connects it to its standard streams. */
const TUNNEL = '/run/hopgate/tunnel';
const TUNNEL_SCRIPT = `#!/bin/bash
exec 3<>/dev/tcp/${PROXY_ADDRESS.host}/${PROXY_ADDRESS.port} 4<&0 || exit 1
host=$1
case $host in *:*) host="[$host]" ;; esac
printf 'CONNECT %s:%s HTTP/1.1\\r\\nHost: %s:%s\\r\\n\\r\\n' "$host" "$2" "$host" "$2" >&3
IFS= read -r status <&3
while IFS= read -r line <&3 && [ "$line" != $'\\r' ]; do :; done
case $status in
*' 200 '*) ;;
*) cat <&3 >&2; exit 1 ;;
esac
cat <&4 >&3 4<&- &
cat <&3
`;

/** Shorter lines of a key file are not treated as secrets: the first and the last line, and a short rest of the key. */
const SHORTEST_LINE = 24;

/** The files with which ssh, scp, rsync and git use the proxy, and the parts of the key that no output may show. */
export function sshThroughProxy(
  ssh: CommandAccess['ssh'],
  { envelope: { root, config } }: Pick<ToolCall, 'envelope'>,
  key: string,
): { readonly mounts: readonly SandboxMount[]; readonly secrets: readonly string[] } | ToolStop {
  const settings = ['Host *', `ProxyCommand ${TUNNEL} %h %p`, 'BatchMode yes', 'StrictHostKeyChecking yes'];
  const tunnel: SandboxMount = { kind: 'text-file', target: TUNNEL, text: TUNNEL_SCRIPT };
  const withConfig = (lines: readonly string[]): SandboxMount[] => [
    tunnel,
    { kind: 'text-file', target: '/etc/ssh/ssh_config', text: `${lines.join('\n')}\n` },
  ];
  if (ssh === undefined) return { mounts: withConfig(settings), secrets: [] };
  const sandboxAccess = { env: {}, reach: [root, ...config.toolchains.map(expandTilde)] };
  const identity = checkCredentialFile(sandboxAccess, `${key}.ssh.key`, ssh.key);
  if (isStop(identity)) return identity;
  const known = checkCredentialFile(sandboxAccess, `${key}.ssh.known-hosts`, ssh.knownHosts);
  if (isStop(known)) return known;
  const login = ['IdentitiesOnly yes', `IdentityFile ${identity.path}`, `UserKnownHostsFile ${known.path}`];
  return {
    mounts: [...withConfig([...settings, ...login]), readOnlyMount(identity.path), readOnlyMount(known.path)],
    secrets: readFileSync(identity.path, 'utf8')
      .split(/\r?\n/)
      .filter((line) => line.length >= SHORTEST_LINE && !line.startsWith('-----')),
  };
}
