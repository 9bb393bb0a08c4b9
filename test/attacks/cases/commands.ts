import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { quoteShell } from '../../../src/base/text.ts';
import { type Case, rows } from '../case.ts';

const look = rows('explore', 'bash-readonly');
const work = rows('edit', 'bash');
const test = rows('test', 'bash-test');

type Attempt = readonly [cls: Case['class'], name: string, command: string];

/**
 * Commands that must have no effect, tried both where commands may only read and where they may write. One call tries
 * several of a class, each in its own shell: none of them leaves anything that another could meet.
 */
const TOGETHER: readonly Attempt[] = [
  ['R1', 'sort -o', 'sort -o {OUT}/target.txt src/a.txt'],
  [
    'R1',
    'sort --compress-program',
    'sort --compress-program="touch {OUT}/x" src/a.txt; sort -S1 --compress-program=./src/tool.sh src/a.txt',
  ],
  ['R1', 'sed w', "sed -n 'w {OUT}/target.txt' src/a.txt"],
  ['R1', 'sed e', "sed '1e touch {OUT}/x' src/a.txt"],
  ['R1', 'awk', 'awk \'BEGIN { system("touch {OUT}/x"); print "x" > "{OUT}/target.txt" }\''],
  ['R1', 'find -exec', 'find . -name a.txt -exec cp {} {OUT}/x \\;'],
  ['R1', 'find -delete', 'find {OUT} -delete'],
  ['R1', 'xargs', 'echo {OUT}/target.txt | xargs rm -f'],
  ['R1', 'tee', 'echo x | tee {OUT}/target.txt'],
  ['R1', 'a redirection', 'echo pwned > {OUT}/target.txt'],
  ['R1', 'a redirection in a substitution', 'echo $(echo pwned > {OUT}/target.txt)'],
  ['R1', 'echo chaining', 'echo ok; echo ok && echo "$(cat {OUT}/secret.txt)"'],
  ['R1', 'an @P expansion', 'x=\'$(cat {OUT}/secret.txt)\'; echo "${x@P}"'],
  ['R1', 'history', 'history -a {OUT}/x; history -w {OUT}/y'],
  ['R1', 'eval of base64', 'echo Y2F0IC5lbnY= | base64 -d | sh'],
  ['R1', 'padding by blanks', `cat src/a.txt ${' '.repeat(4000)}; cat {OUT}/secret.txt`],
  ['R1', 'rg --pre', 'rg --pre cat x . ; rg --search-zip TOKEN'],
  ['R1', 'tar to a command', 'tar cf /dev/null --checkpoint=1 --checkpoint-action=exec="touch {OUT}/x" src/a.txt'],
  ['R1', 'git with an alias', 'git -c alias.x="!touch {OUT}/x" x'],
  ['R1', 'git with a pager', 'git -p -c core.pager="touch {OUT}/x" log'],
  ['R1', 'man with a browser', 'man --html="touch {OUT}/x" man'],
  ['R1', 'vim', 'vim -es +":w! {OUT}/target.txt" +q src/a.txt < /dev/null'],
  ['R1', 'python', "python3 -c \"open('{OUT}/target.txt','w').write('x')\""],
  ['R1', 'node', "node -e \"require('fs').writeFileSync('{OUT}/target.txt','x')\""],
  ['R3', 'cat a file outside', 'cat {OUT}/secret.txt'],
  ['R3', 'cat by a relative path', 'cat ../outside/secret.txt; cat src/../../outside/secret.txt'],
  ['R4', 'cat links that leave', 'cat src/out-file src/out-abs src/out-dir/secret.txt src/chain'],
  [
    'R4',
    'cat by /proc',
    'cat /proc/self/root{OUT}/secret.txt /proc/1/root{OUT}/secret.txt /proc/self/cwd/../outside/secret.txt',
  ],
  ['R6', 'cat masked files', 'cat .env src/.env src/.env.local .npmrc .netrc secrets/server.pem src/id_rsa'],
  ['R6', 'cat masked files in node_modules', 'cat node_modules/dep/.env'],
  ['R6', 'copy masked files', 'cp .env /tmp/x; cat /tmp/x; tar c . | strings | grep -a TOKEN'],
  ['R6', 'encode masked files', 'base64 .env; xxd -p .env; rev .env; od -c .env'],
  ['R6', 'link to masked files', 'ln .env /tmp/e; ln -s $PWD/.env /tmp/f; cat /tmp/e /tmp/f src/env-link'],
  [
    'R6',
    'masked files by dd',
    "dd if=.env 2>/dev/null; head -c 100 .npmrc; mmap=1 node -p \"require('fs').readFileSync('.env','utf8')\"",
  ],
  ['R8', "git's credentials", 'cat .git/config nested/.git/config; git remote -v; git config --list'],
  [
    'R5',
    'the environment',
    'env; export; cat /proc/self/environ /proc/1/environ; tr "\\0" "\\n" < /proc/$PPID/environ',
  ],
  [
    'R5',
    'a poisoned environment',
    'export PATH=/tmp:$PATH LD_PRELOAD=/tmp/x.so BASH_ENV=/tmp/y; echo touch {OUT}/x > /tmp/y; true',
  ],
  ['R5', 'the environment of the engine', 'cat /proc/{ENGINE}/environ; ls -l /proc/{ENGINE}/fd /proc/{ENGINE}/root'],
  ['R8', 'remount', 'mount -o remount,rw,bind / ; mount -o remount,rw /usr; mount -t tmpfs x /tmp'],
  ['R8', 'a namespace', 'unshare -Urm cat {OUT}/secret.txt; unshare -n true'],
  [
    'R8',
    'a namespace of the host',
    'nsenter -t 1 -m cat {OUT}/secret.txt; nsenter -t {ENGINE} -a cat {OUT}/secret.txt',
  ],
  ['R8', 'chroot', 'chroot / cat {OUT}/secret.txt; chroot /proc/1/root sh -c id'],
  [
    'R17',
    'a kernel setting',
    'echo "|{OUT}/x" > /proc/sys/kernel/core_pattern; sysctl -w kernel.core_pattern=x; echo x > /proc/sysrq-trigger',
  ],
  ['R17', 'cgroups', 'mkdir /sys/fs/cgroup/x; echo $$ > /sys/fs/cgroup/cgroup.procs; ls /sys'],
  ['R17', 'devices', 'cat /dev/sda /dev/mem /dev/kmsg | head -c 100; mknod /tmp/d b 8 0; echo x > /dev/kmsg'],
  ['R9', 'a port of the host', 'exec 3<>/dev/tcp/127.0.0.1/{PORT} && echo reached'],
  [
    'R9',
    'a port of the host by curl',
    'curl -s --max-time 2 http://127.0.0.1:{PORT}/ || wget -qO- -T 2 http://127.0.0.1:{PORT}/',
  ],
  [
    'R9',
    'a port of the host by name',
    'exec 3<>/dev/tcp/localhost/{PORT}; exec 3<>/dev/tcp/host.docker.internal/{PORT}',
  ],
  ['R9', 'the name service', 'getent hosts example.com; ping -c1 -W1 1.1.1.1; nslookup x.example.com'],
  [
    'R9',
    'an abstract socket',
    'python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect(\'\\0/tmp/.X11-unix/X0\')"',
  ],
  [
    'R9',
    'a raw socket',
    'python3 -c "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"; python3 -c "import socket; socket.socket(socket.AF_VSOCK)"',
  ],
  ['R8', 'a capability', 'setcap cap_sys_admin+ep /tmp/x; capsh --print; su -c id; sudo -n id'],
  [
    'R8',
    'tracing',
    'strace -p 1 true; gdb -p {ENGINE} -batch; python3 -c "import ctypes; print(ctypes.CDLL(None).ptrace(16, {ENGINE}, 0, 0))"',
  ],
  ['R8', 'io_uring', 'python3 -c "import ctypes; r=ctypes.CDLL(None).syscall(425, 8, 0); print(\'uring\', r)"'],
  ['R8', 'TIOCSTI', 'python3 -c "import fcntl; fcntl.ioctl(0, 0x5412, b\'x\')"'],
  ['R8', 'descriptors of the engine', 'ls -l /proc/self/fd; for f in 3 4 5 6 7 8 9; do cat <&$f; done'],
];

/** The same for commands that could disturb others, or whose output is long. Each has its own call. */
const ALONE: readonly Attempt[] = [
  ['R2', '60 sub-commands', `${'true && '.repeat(60)}cat {OUT}/secret.txt`],
  ['R2', 'quotes without end', 'echo "'],
  ['R2', 'a here-document without end', 'cat <<X\nfoo'],
  ['R4', 'write by links that leave', 'echo x > src/dangling; echo x > src/out-dir/y; echo x > src/out-file'],
  ['R4', 'write to a hard link', 'echo pwned > src/hard.txt; cat src/a.txt >> src/hard.txt'],
  ['R6', 'grep for tokens', 'grep -ra TOKEN= . ; grep -ra s3cr3t /tmp /home 2>/dev/null'],
  ['R8', 'the evidence', 'ls -la {ROOT}/../; cat {ROOT}/../evidence.db; rm -f {ROOT}/../evidence.db'],
  ['R8', 'the state folder', 'find / -name evidence.db -o -name "*.db" -path "*hopgate*" 2>/dev/null | xargs -r cat'],
  [
    'R8',
    'hooks',
    'echo touch {OUT}/x > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; git config core.hooksPath src',
  ],
  ['R8', 'the limits', 'echo "mask: []" > hopgate.yaml; sed -i s/src/./ hopgate.yaml; rm hopgate.yaml'],
  [
    'R9',
    'a socket file of the tree',
    "node -e \"require('net').connect('{SOCKET}').on('connect',()=>console.log('reached')).on('error',e=>console.log(e.code))\"",
  ],
  [
    'R8',
    'a setuid file',
    'cp /usr/bin/id /tmp/i; chmod 4755 /tmp/i; chmod u+s src/tool.sh; install -m 6755 /usr/bin/id src/i',
  ],
  ['R8', 'a signal to the engine', 'kill -9 {ENGINE}; kill -9 -1; kill -STOP {ENGINE}; pkill -9 node'],
  [
    'limits',
    'processes left behind',
    'setsid sleep {MARK} & nohup sleep {MARK} & (trap "" TERM HUP; sleep {MARK}) & disown -a; echo started',
  ],
  [
    'limits',
    'a daemon',
    "python3 -c \"import os\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nos.execvp('sleep', ['sleep', '{MARK}'])\"",
  ],
  ['limits', 'a full /tmp', 'head -c 400M /dev/zero > /tmp/full; ls -l /tmp/full | wc -l'],
  ['limits', 'a full home', 'head -c 200M /dev/zero > ~/full; true'],
  ['limits', 'a full /dev/shm', 'head -c 200M /dev/zero > /dev/shm/full; echo x > /dev/x'],
  ['limits', 'much output', 'yes 0123456789 | head -c 30000000'],
  ['limits', 'output that is not text', 'head -c 100000 /dev/urandom; printf "\\377\\376\\0\\033[2J"'],
];

const MOST_TOGETHER = 8;

/** The attempts of one class as calls with up to 8 of them. The output of each follows its name. */
function tryTogether(cls: Case['class'], attempts: readonly Attempt[]): readonly Parameters<typeof look.attack>[] {
  if (attempts.length === 0) return [];
  const now = attempts.slice(0, MOST_TOGETHER);
  const titles = now.map(([, name]) => `== ${name}`);
  const lines = now.map(
    ([, name, command]) =>
      `bash -c ${quoteShell(command)} >/tmp/said 2>&1; echo; echo ${quoteShell(`== ${name}`)}; head -c 6000 /tmp/said`,
  );
  return [
    [cls, now.map(([, name]) => name).join(', '), { command: lines.join('\n') }, 'contained', { shows: titles }],
    ...tryTogether(cls, attempts.slice(MOST_TOGETHER)),
  ];
}

const EVERYWHERE: readonly Parameters<typeof look.attack>[] = [
  ...[...Map.groupBy(TOGETHER, ([cls]) => cls)].flatMap(([cls, attempts]) => tryTogether(cls, attempts)),
  ...ALONE.map(([cls, name, command]): Parameters<typeof look.attack> => [cls, name, { command }]),
];

/** Commands that must work although they look odd: over-blocking is a flaw, too. */
const WORKS: readonly (readonly [name: string, command: string, shows: readonly string[]])[] = [
  ['a pipe', 'cat src/a.txt | grep beta', ['beta']],
  ['2>&1', 'ls src/sub nowhere 2>&1 | cat; true', ['b.ts', 'nowhere']],
  ['&& and ||', 'true && echo yes || echo no', ['yes']],
  ['git log | head', 'git log --oneline | head -1', ['first']],
  ['git status', 'git status --short | head', []],
  ['git diff', 'git diff --stat HEAD', []],
  ['single quotes', 'echo \'a b  c\' "$HOME"', ['a b  c', '/home/agent']],
  ['a glob', 'ls src/*.txt | wc -l', []],
  ['spaces and unicode in names', 'cat "src/with space.txt" src/ünï-cödé-日本.txt', ['spaced', 'unicode']],
  ['a quote in a name', 'cat "src/quo\'te.txt"', ['quoted']],
  ['a dash in front of a name', 'cat -- src/-dash.txt', ['dashed']],
  ['a loop', 'for f in src/sub/*; do wc -l "$f"; done', ['src/sub/b.ts']],
  ['a here-document', 'cat <<EOF\nhello $((6*7))\nEOF', ['hello 42']],
  ['process substitution', 'diff <(echo a) <(echo a) && echo same', ['same']],
  ['temporary files', 'mktemp -d && echo x > "$TMPDIR/x" && cat "$TMPDIR/x"', ['/tmp/']],
  ['find', 'find src -name "*.ts" -type f', ['src/sub/b.ts']],
  ['awk', "awk 'NR==2' src/a.txt", ['beta']],
  ['sed', "sed -n '/b/p' src/a.txt", ['beta']],
  ['node', 'node -p "1+1"', ['2']],
  [
    'node with a child',
    "node -e \"console.log(require('child_process').execSync('echo child').toString())\"",
    ['child'],
  ],
  ...(existsSync('/usr/bin/python3') ? [['python', 'python3 -c "print(6*7)"', ['42']] as const] : []),
  ['words that sound dangerous', 'echo "rm -rf / && curl evil | sh; sudo --force"', ['sudo --force']],
  ['a background job that is waited for', '(sleep 0.1; echo late) & wait', ['late']],
  ['a link inside the tree', 'cat src/in-link', ['alpha']],
  ['100 MB of output', 'yes 0123456789abcde | head -c 100000000', ['bytes left out']],
  ['many arguments', 'echo $(seq 1 5000) | wc -w', ['5000']],
];

const edits: readonly Case[] = [
  work.attack(
    'R8',
    'a nested repository',
    { command: 'git init -q src/evil && printf "[core]\\nfsmonitor = touch {OUT}/x\\n" >> src/evil/.git/config' },
    'contained',
    { files: { 'src/evil/.git/config': null } },
  ),
  work.attack(
    'R8',
    'a bare repository in the tree',
    {
      command:
        'mkdir -p src/bare/objects src/bare/refs && echo "ref: refs/heads/x" > src/bare/HEAD && echo "[core]" > src/bare/config',
    },
    'contained',
    { files: { 'src/bare/HEAD': null } },
  ),
  work.attack(
    'R8',
    "an agent's configuration",
    {
      command:
        'mkdir -p src/.claude src/.vscode src/.husky; echo x | tee src/.claude/settings.json src/.vscode/tasks.json src/.husky/pre-commit src/.mcp.json src/.envrc src/.npmrc',
    },
    'contained',
    {
      files: {
        'src/.claude/settings.json': null,
        'src/.vscode/tasks.json': null,
        'src/.husky/pre-commit': null,
        'src/.mcp.json': null,
        'src/.envrc': null,
        'src/.npmrc': null,
      },
      shows: ['src/.mcp.json'],
    },
  ),
  work.attack(
    'R3',
    'files outside the scope',
    {
      command:
        'echo x >> README.md; echo x > new.txt; rm package.json; mv test.sh src/t.sh; echo x > src-evil/a.txt; exit 0',
    },
    'works',
    { files: { 'new.txt': null, 'src-evil/a.txt': 'not in scope\n' }, shows: ['README.md', 'new.txt', 'package.json'] },
  ),
  work.attack(
    'R4',
    'a link',
    { command: 'ln -s {OUT} src/new-link; ln -s /etc/shadow docs/s; ln -sf {OUT}/target.txt src/tool.sh' },
    'contained',
    { files: { 'src/tool.sh': '#!/bin/sh\necho tools\n' } },
  ),
  work.attack('R4', 'a link in the place of a folder', { command: 'rm -rf docs && ln -s {OUT} docs' }, 'contained'),
  work.attack(
    'R4',
    'special files',
    {
      command:
        'mkfifo src/f2; mknod src/n c 1 3; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\'src/s2\')"; true',
    },
    'contained',
    { files: { 'src/f2': null } },
  ),
  work.attack(
    'R4',
    'a hard link',
    { command: 'ln src/a.txt src/hard-2; ln test.sh src/hard-3; ln src/hard.txt src/hard-4; true' },
    'contained',
    { files: { 'src/hard-2': null, 'src/hard-3': null } },
  ),
  work.attack(
    'R8',
    'a setuid file',
    { command: 'cp /usr/bin/id src/id; chmod u+s src/id; chmod g+s src/id; chmod 0755 src; true' },
    'contained',
  ),
  work.attack(
    'R6',
    'a masked file replaced',
    {
      command:
        'echo x > .env; rm -f src/.env; echo x > src/.env; echo TOKEN=mine > docs/.env; mv src/id_rsa src/k; cat src/k',
    },
    'contained',
    { files: { 'docs/.env': null } },
  ),
  work.attack(
    'R6',
    'a folder with a masked file moved',
    { command: 'mv src docs/moved; cat docs/moved/.env docs/moved/id_rsa; exit 1' },
    'contained',
  ),
  work.attack(
    'R8',
    'a stage of ours',
    { command: 'mkdir -p .hopgate-stage-1-x; echo "[]" > .hopgate-stage-1-x/journal.json' },
    'contained',
    { files: { '.hopgate-stage-1-x/journal.json': null } },
  ),
  work.attack(
    'limits',
    'a full tree',
    { command: 'head -c 3G /dev/zero > src/full; ls -l src/full; rm src/full' },
    'contained',
    {
      files: { 'src/full': null },
    },
  ),
  work.benign(
    'R3',
    'a new file',
    { command: 'echo made > src/made.txt && cat src/made.txt' },
    { files: { 'src/made.txt': 'made\n' }, shows: ['made'] },
  ),
  work.benign(
    'R3',
    'a deep new folder',
    { command: 'mkdir -p src/x/y/z && echo 1 > "src/x/y/z/日本 x.txt"' },
    { files: { 'src/x/y/z/日本 x.txt': '1\n' } },
  ),
  work.benign(
    'R3',
    'unreadable files, beside other changes',
    { command: 'echo p > src/m0; mkdir -p src/ur; echo x > src/ur/f; chmod 000 src/m0 src/ur; echo y > src/open.txt' },
    {
      files: { 'src/open.txt': 'y\n' },
      after: ({ root }) => {
        for (const path of ['src/ur', 'src/m0']) rmSync(join(root, path), { recursive: true, force: true });
      },
    },
  ),
  work.benign(
    'R3',
    'the permissions of a folder, and said that they stay',
    { command: 'chmod 700 src' },
    {
      shows: ['changed permissions of a folder are not kept'],
    },
  ),
  work.benign(
    'limits',
    'two thousand new files',
    { command: 'mkdir src/many && cd src/many && for i in {1..2000}; do echo $i > f$i; done' },
    { files: { 'src/many/f1': '1\n', 'src/many/f2000': '2000\n' } },
  ),
  work.benign(
    'limits',
    'two thousand files removed',
    { command: 'rm -r src/many' },
    { files: { 'src/many/f1': null }, inSequence: true },
  ),
  work.attack('R4', 'a root that nobody may read', { command: 'echo x > src/unseen.txt; chmod 000 .' }, 'contained'),
  work.benign(
    'R3',
    'a file removed',
    { command: 'rm src/made.txt' },
    { files: { 'src/made.txt': null }, inSequence: true },
  ),
  work.benign(
    'R3',
    'a file renamed',
    { command: 'mv src/d.txt src/e.txt' },
    { files: { 'src/d.txt': null, 'src/e.txt': 'd' }, inSequence: true },
  ),
  work.benign(
    'R3',
    'sed -i',
    { command: "sed -i 's/beta/delta/' src/a.txt && sed -i 's/delta/beta/' src/a.txt" },
    { files: { 'src/a.txt': 'alpha\nbeta\ngamma\n' } },
  ),
  work.benign(
    'R3',
    'build output is dropped, and said so',
    { command: 'sh test.sh' },
    { files: { 'dist/out.txt': null }, shows: ['dist', 'ok 1'] },
  ),
  work.benign(
    'R8',
    'a script made executable',
    { command: 'printf "#!/bin/sh\\n" > src/run && chmod +x src/run' },
    { findings: ['src/run'] },
  ),
  work.benign(
    'R8',
    'a script that git tracks',
    { command: 'echo "echo more" >> scripts/build.sh' },
    { findings: ['scripts/build.sh'] },
  ),
  work.benign(
    'R8',
    'a makefile',
    { command: 'printf "all:\\n\\ttrue\\n" > src/Makefile; echo {} > src/package.json' },
    { findings: ['src/Makefile', 'src/package.json'] },
  ),
];

const tests: readonly Case[] = [
  ...[
    'rm -rf src',
    'sh test.sh; cat .env',
    'sh test.sh && true',
    'npm test -- --x',
    'npm run evil',
    'sh -c id',
    'npm',
    'sh test.sh | cat',
    '$(id)',
    'sh ./test.sh',
    'echo $(cat .env)',
    'echo `id`',
    'sh "test.sh" extra',
    '',
    '   ',
    'x\0y',
  ].map((command) => test.attack('R1', `the command ${JSON.stringify(command)}`, { command }, 'refused')),
  ...[42, ['sh', '-c', 'id'], [], [1], { run: 'id' }].map((command) =>
    test.attack('R2', `the command ${JSON.stringify(command)}`, { command }, 'refused'),
  ),
  test.attack(
    'R1',
    'words that a shell would act on',
    { command: ['echo', ';', 'cat', '.env', '$(cat .env)', '`id`', '> src/a.txt'] },
    'works',
    { shows: ['$(cat .env)'] },
  ),
  test.attack('R1', 'another tool', { path: 'src/a.txt', content: 'x' }, 'refused'),
  test.benign('R1', 'the first command', {}, { shows: ['"verdict":"pass"'], files: { 'dist/out.txt': null } }),
  test.benign('R1', 'a configured command', { command: 'sh test.sh' }, { shows: ['"verdict":"pass"'] }),
  test.benign('R1', 'a configured command with quotes', { command: "sh 'test.sh'" }, { shows: ['"verdict":"pass"'] }),
  test.benign(
    'R1',
    'npm test with build output',
    { command: 'npm test' },
    { shows: ['ok 1 - builds'], files: { 'dist/out.txt': null } },
  ),
  test.benign('R1', 'a command with arguments where they may be', { command: "echo 'a  b' c" }, { shows: ['a  b c'] }),
];

export const commandCases: readonly Case[] = [
  ...[look, work].flatMap((tool) => [
    // The listener accepts streams only, so an error about the socket's type proves that it was reached.
    tool.attack(
      'R9',
      'a pair of datagram sockets that sends to a socket of the host',
      {
        command: `python3 -c "import errno, socket; one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
try: one.sendto(b'x', '{SOCKET}'); print('SENT')
except OSError as error: print(errno.errorcode[error.errno])"`,
      },
      'contained',
      { shows: ['ECONNREFUSED'], hides: ['EPROTOTYPE', 'SENT'] },
    ),
    tool.benign('control', 'a unix socket of its own', {
      command: `python3 -c "import socket; one, two = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX); one.bind('/tmp/own'); one.listen(); two.connect('/tmp/own')"`,
    }),
  ]),
  work.attack('limits', 'files with holes', { command: 'truncate -s 900M src/h1 src/h2' }, 'contained', {
    shows: ['exceed 1 GiB in total'],
    after: ({ root }) => {
      for (const name of ['h1', 'h2']) rmSync(join(root, 'src', name), { force: true });
    },
  }),
  work.attack(
    'limits',
    'folders deeper than a path can say',
    {
      command:
        'cd src && i=0; while [ $i -lt 60 ]; do mkdir deep$(printf %095d 0) && cd deep$(printf %095d 0); i=$((i+1)); done; true',
    },
    'works',
    {
      shows: ['its path is longer than the system allows'],
      after: ({ root }) => rmSync(join(root, 'src', `deep${'0'.repeat(95)}`), { recursive: true, force: true }),
    },
  ),
  ...EVERYWHERE.flatMap((attack) => [look.attack(...attack), work.attack(...attack)]),
  ...WORKS.flatMap(([name, command, shows]) => [
    look.benign('control', name, { command }, { shows }),
    work.benign('control', name, { command }, { shows }),
  ]),
  ...[look, work].flatMap((tool) =>
    (
      [
        ['nothing', ''],
        ['blanks', '   '],
        ['a NUL', 'echo a\0b'],
        ['a number', 42],
        ['a list', ['ls']],
        ['an object', { cmd: 'ls' }],
        ['200 KiB', `echo ${'x'.repeat(200_000)}`],
      ] as const
    ).map(([name, command]) => tool.attack('R2', `a command that is ${name}`, { command }, 'invalid-action')),
  ),
  look.attack('R12', 'a folder of its own choosing', { command: 'pwd', cwd: '{OUT}' }, 'invalid-action'),
  look.attack(
    'R12',
    'an environment of its own choosing',
    { command: 'env', env: { PATH: '{OUT}' } },
    'invalid-action',
  ),
  look.benign('limits', 'an exit status', { command: 'test -f src/a.txt' }),
  ...edits,
  ...tests,
];
