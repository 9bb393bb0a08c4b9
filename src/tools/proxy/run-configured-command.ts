import { printFirstPaths } from '../../gate/scope/compare-trees.ts';
import type { ObservedEffect } from '../../ports/tool-backend.ts';
import { PROXY_LIMITS } from '../../spec/policy/limits.ts';
import type { CommandAccess, Fields } from '../../spec/types.ts';
import { addMountsToLayout, PROXY_ADDRESS, type SandboxLayout } from '../sandbox/mounts/layout.ts';
import type { CommandOptions, CommandResult } from '../sandbox/sandbox.ts';
import { askForSecrets, type FilledCommandEnv, fillCommandEnv } from '../shell/command-env.ts';
import type { ScannedCallTree, ShellContext } from '../shell/shell-context.ts';
import { isStop, type ToolStop } from '../workspace/tool-stop.ts';
import { type FilteringProxy, makeFilteringProxy, type ProxyConnectionTry } from './filtering-proxy.ts';
import { sshThroughProxy } from './ssh-through-proxy.ts';

/** A run of a configured command, and the hosts that it tried to reach. */
interface OnlineRun {
  readonly result: CommandResult;
  readonly connects: readonly ObservedEffect[];
  readonly fields: Fields;
}

/**
 * Runs a configured command with its variables, its secrets and, if it has `hosts`, with hopgate's proxy as its only
 * network. Secrets are masked in the output and in the names of hosts.
 * @param key the command's key in hopgate.yaml, for messages: `deploy.publish`
 */
export async function runConfiguredCommand(
  context: ShellContext,
  tree: ScannedCallTree,
  layout: SandboxLayout,
  command: CommandAccess & { readonly run: readonly string[] },
  options: Partial<CommandOptions> & { readonly key: string },
): Promise<OnlineRun | ToolStop> {
  const { key, env, ...more } = options;
  const secrets = await askForSecrets(command.secrets, context.call, key);
  if (isStop(secrets)) return secrets;
  const ssh = sshThroughProxy(command.ssh, context.call, key);
  if (isStop(ssh)) return ssh;
  const filled = fillCommandEnv(command.env, context.env, secrets, ssh.secrets);
  const hosts = command.hosts ?? [];
  const insisted = new AbortController();
  const onInsistence = () => insisted.abort();
  const proxy =
    hosts.length > 0 && context.sandboxed ? makeFilteringProxy(hosts, { env: context.env, onInsistence }) : null;
  try {
    const { aborted, ...ended } = filled.cleanResult(
      await context.run(tree, proxy ? { ...addMountsToLayout(layout, ssh.mounts), proxy: true } : layout, command.run, {
        ...more,
        onOutput: filled.mayShowOutput ? context.call.onOutput : undefined,
        env: { ...(proxy ? proxyVariables(hosts) : {}), ...env, ...filled.env },
        ...(proxy ? { onConnection: proxy.accept } : {}),
        signal: AbortSignal.any([context.call.signal, insisted.signal]),
      }),
    );
    // A command that hopgate ended, because it requested a refused host too often, was not aborted by the caller.
    const result = { ...ended, aborted: aborted && context.call.signal.aborted };
    const { connects, fields } = reportConnections(proxy, filled, key, result.exit);
    const { refusals } = PROXY_LIMITS;
    const warning = `hopgate ended the command: it tried to reach a refused host ${refusals} times.`;
    return {
      result,
      connects,
      fields: {
        ...(insisted.signal.aborted ? { warning } : {}),
        ...missingSettings(command, layout, result, filled, proxy, key),
        ...fields,
      },
    };
  } finally {
    proxy?.close();
  }
}

/** Reports the hosts that a command tried to reach: connections as effects, refusals as fields of the result. */
function reportConnections(
  proxy: FilteringProxy | null,
  { cleanHost }: FilledCommandEnv,
  key: string,
  exit: number | null,
): Omit<OnlineRun, 'result'> {
  const tried = (proxy?.tried() ?? []).map((each) => ({ ...each, target: cleanHost(each.target) }));
  const isReached = (each: ProxyConnectionTry) => each.why === null;
  const refused = tried.filter((each) => !isReached(each));
  const names = printFirstPaths(refused.map(({ target }) => target));
  return {
    connects: tried.filter(isReached).map(({ target }) => ({ path: target, op: 'connect' })),
    fields:
      refused.length === 0
        ? {}
        : {
            refusedHosts: refused.map(({ target, tries, why }) => ({ address: target, tries, why })),
            // A command can succeed although a host was refused: package managers look for their own newest version.
            remedy:
              exit === 0
                ? `The command succeeded without ${names}, which ${key}.hosts in hopgate.yaml does not list.`
                : `The command reaches only its listed hosts, and not ${names}. Ask the operator to list the hosts that it needs under ${key}.hosts in hopgate.yaml; a host that is not public needs its address there as well.`,
          },
  };
}

/** Error messages of programs that reached no host. */
const REFUSED = /connection refused|ECONNREFUSED|could(?: not|n't) connect/i;
/** Addresses of this machine. A command reaches a service of it only if its `hosts` list the address. */
const OWN_SERVICE = /\b127\.0\.0\.1\b|\blocalhost\b|::1\b/;
/** Error messages of ssh if it does not know the host's key, or if the host accepts none of its keys. */
const SSH_REFUSED = /Host key verification failed|Permission denied \(publickey/;

/** Remedies for a failed command: the settings in hopgate.yaml that it lacked and that only the operator can make. */
function missingSettings(
  { hosts = [], ssh }: CommandAccess,
  { network }: SandboxLayout,
  { exit, stdout, stderr, networkTries = 0 }: CommandResult,
  { unset, cleanHost }: FilledCommandEnv,
  proxy: FilteringProxy | null,
  key: string,
): Fields {
  if (exit === 0) return {};
  const output = `${stdout}\n${stderr}`;
  const isOffline = hosts.length === 0 && !network && (networkTries > 0 || REFUSED.test(output));
  const unanswered = [...(proxy?.unanswered() ?? [])].map(([target, why]) => `${cleanHost(target)}: ${why}`);
  const remedies = [
    ...(unanswered.length > 0 ? [`These hosts did not answer: ${printFirstPaths(unanswered)}.`] : []),
    ...(hosts.length > 0 && REFUSED.test(output) && OWN_SERVICE.test(output) && unanswered.length === 0
      ? [`A service of this machine is reached if ${key}.hosts in hopgate.yaml lists it, as 127.0.0.1:PORT.`]
      : []),
    ...(unset.length > 0
      ? [
          `The command did not get these variables, because they are not set where hopgate was started: ${printFirstPaths(unset)}.`,
        ]
      : []),
    ...(ssh === undefined && SSH_REFUSED.test(output)
      ? [`Ask the operator for ${key}.ssh in hopgate.yaml: { key: ~/.ssh/…, known-hosts: ~/.ssh/known_hosts }.`]
      : []),
  ];
  return {
    ...(isOffline
      ? {
          noNetwork: `There is no network here. Ask the operator to list the hosts that the command needs under ${key}.hosts in hopgate.yaml; a service of this machine as 127.0.0.1:PORT.`,
        }
      : {}),
    ...(remedies.length > 0 ? { remedy: remedies.join(' ') } : {}),
  };
}

const ADDRESS = `http://${PROXY_ADDRESS.host}:${PROXY_ADDRESS.port}`;
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '::1'];

/** The variables by which programs find the proxy. Loopback is reached directly unless a host lists it. */
function proxyVariables(hosts: readonly string[]): { readonly [name: string]: string } {
  const direct = LOOPBACK_HOSTS.filter(
    (host) => !hosts.some((listed) => listed.replace(/:\d+$/, '').replace(/^\[|\]$/g, '') === host),
  );
  const java = ['http', 'https'].flatMap((kind) => [
    `-D${kind}.proxyHost=${PROXY_ADDRESS.host}`,
    `-D${kind}.proxyPort=${PROXY_ADDRESS.port}`,
  ]);
  return {
    ...bothCases('HTTP_PROXY', ADDRESS),
    ...bothCases('HTTPS_PROXY', ADDRESS),
    ...bothCases('NO_PROXY', direct.join(',')),
    NODE_USE_ENV_PROXY: '1',
    YARN_HTTP_PROXY: ADDRESS,
    YARN_HTTPS_PROXY: ADDRESS,
    JAVA_TOOL_OPTIONS: [...java, `-Dhttp.nonProxyHosts=${direct.join('|')}`].join(' '),
  };
}

const bothCases = (name: string, value: string) => ({ [name]: value, [name.toLowerCase()]: value });
