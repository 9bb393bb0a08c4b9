import { readTextOrEmpty } from './files.ts';

const INSTALL_COMMANDS: { readonly [distribution: string]: string } = {
  debian: 'apt-get install',
  ubuntu: 'apt-get install',
  fedora: 'dnf install',
  rhel: 'dnf install',
  arch: 'pacman -S',
  alpine: 'apk add',
  suse: 'zypper install',
};

/**
 * How the operator installs a package on this system, to follow "install git": the command of the distribution that
 * `osRelease` (the text of os-release) names in `ID` or `ID_LIKE`, of Homebrew on macOS, else a general phrase.
 *
 * @example
 * installHint('git', 'ID=rocky\nID_LIKE="rhel centos fedora"'); // '(`dnf install git`, as root)'
 */
export function installHint(name: string, osRelease = readOsRelease(), platform: string = process.platform): string {
  if (platform === 'darwin') return `(\`brew install ${name}\`)`;
  const names = ['ID', 'ID_LIKE'].flatMap((key) => {
    const value = new RegExp(`^${key}=(.*)$`, 'm').exec(osRelease)?.[1] ?? '';
    return value.replace(/["']/g, '').trim().split(/\s+/);
  });
  const distribution = names.find((distribution) => Object.hasOwn(INSTALL_COMMANDS, distribution));
  if (distribution === undefined) return 'with the package manager of this system';
  return `(\`${INSTALL_COMMANDS[distribution]} ${name}\`, as root)`;
}

const readOsRelease = (): string => readTextOrEmpty('/etc/os-release') || readTextOrEmpty('/usr/lib/os-release');
