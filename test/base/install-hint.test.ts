import { expect, test } from 'vitest';
import { installHint } from '../../src/base/install-hint.ts';

test.each([
  ['ID=debian', '(`apt-get install git`, as root)'],
  ['NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"', '(`apt-get install git`, as root)'],
  ['ID="rocky"\nID_LIKE="rhel centos fedora"', '(`dnf install git`, as root)'],
  ["ID='arch'", '(`pacman -S git`, as root)'],
  ['VERSION_ID=3.20\nID=alpine', '(`apk add git`, as root)'],
  ['ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\r\n', '(`zypper install git`, as root)'],
  ['ID=constructor', 'with the package manager of this system'],
  ['', 'with the package manager of this system'],
])('on a Linux with the os-release %j, git is installed %s', (osRelease, hint) =>
  expect(installHint('git', osRelease, 'linux')).toBe(hint),
);

test('on macOS, git is installed by Homebrew, without root', () =>
  expect(installHint('git', '', 'darwin')).toBe('(`brew install git`)'));
