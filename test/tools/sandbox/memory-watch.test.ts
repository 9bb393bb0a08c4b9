import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isDeep } from '../../depth.ts';

const SCRIPT = join(import.meta.dirname, 'watch-memory.ts');

test.runIf(isDeep && process.getuid?.() === 0)(
  'memory is limited also if hopgate may not read the namespaces of a command',
  () => {
    const [program, ...argv] = [
      'setpriv',
      '--bounding-set=-sys_ptrace',
      '--inh-caps=-sys_ptrace',
      process.execPath,
      SCRIPT,
    ];
    expect(execFileSync(program!, argv, { encoding: 'utf8' })).toBe('ended with 137\n');
  },
);
