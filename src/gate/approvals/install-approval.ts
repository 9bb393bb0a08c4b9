import type { Json, ProjectConfig } from '../../spec/types.ts';
import type { Arguments } from '../arguments.ts';

/**
 * The parts of an install that a person approves: the commands that may run, with their hosts and whether scripts run,
 * and the files that decide what is installed. Null if the configuration asks for no approval.
 *
 * @param locks sha256 by file, observed now
 */
export function installToApprove(
  { install = [] }: ProjectConfig,
  args: Arguments,
  locks: { readonly [file: string]: Json },
): { readonly [title: string]: Json } | null {
  if (!install.some(({ approval }) => approval)) return null;
  const commands = install.map(({ run, hosts = [], scripts }) => ({
    run: run.join(' '),
    hosts: `from ${hosts.join(', ') || 'no host'}`,
    scripts: `with scripts of packages ${scripts ? 'on' : 'off'}`,
  }));
  return { command: args['command'] ?? 'the configured one', install: commands, locks };
}
