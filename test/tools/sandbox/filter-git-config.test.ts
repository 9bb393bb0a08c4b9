import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keepGitFormatSettings, removeGitCredentials } from '../../../src/tools/sandbox/mounts/filter-git-config.ts';

it('the shown git configuration contains only what git needs to read the repository', () => {
  const config = `[core]
\trepositoryformatversion = 1
\tfilemode = true ; as it is
\tbare = false
\tworktree = /somewhere
\tfsmonitor = /evil
[Extensions]
\tobjectFormat = sha256
\tpartialclone = origin
[remote "origin"]
\turl = https://me:secret@example.com/x.git
[core "x"]
\tautocrlf = true
[core] ignorecase = true
[include]
\tpath = other
`;
  expect(keepGitFormatSettings(config)).toBe(
    '[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tignorecase = true\n[extensions]\n\tobjectformat = sha256\n',
  );
});

it('remotes and branches are shown, without credentials and without settings that name a program', () => {
  const config = `[remote "origin"]
\turl = git@example.com:me/x.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
\tpushurl = https://me:secret@example.com/x.git
\tuploadpack = /evil
[remote "token"]
\turl = https://token@example.com/x.git
[remote "query"]
\turl = https://example.com/x.git?token=1
[remote "ext"]
\turl = ext::evil
[remote "web"]
\turl = https://example.com:8443/me/x.git
[remote "near"]
\turl = ../x.git
[branch "Main"]
\tremote = origin
\tmerge = refs/heads/Main
\tpushRemote = https://me:secret@example.com/
[url "https://me:secret@example.com/"]
\tinsteadOf = x:
`;
  expect(keepGitFormatSettings(config)).toBe('');
  expect(removeGitCredentials(config)).toBe(`[remote "origin"]
\turl = git@example.com:me/x.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[remote "web"]
\turl = https://example.com:8443/me/x.git
[remote "near"]
\turl = ../x.git
[branch "Main"]
\tremote = origin
\tmerge = refs/heads/Main
`);
});

const word = fc.constantFrom(
  ...'core,extensions,remote "o",branch "m",merge,bare,objectformat,url,sha256,true,S3CRET,=,[,],\\,",\n,\t, ,;,#'.split(
    ',',
  ),
);

it('the shown git configuration contains only known words, whatever the file says', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word, { maxLength: 40 }).map((words) => words.join('')),
      ),
      (text) => {
        for (const line of removeGitCredentials(`[core]\n${text}`).split('\n'))
          expect(line).toMatch(
            /^(?:|\[(?:core|extensions|(?:remote|branch) "[\w./-]+")\]|\t(?:url|fetch|remote|merge) = [\w./~+:@*-]+|\t[a-z]+ = (?:[01]|true|false|input|lf|crlf|native|sha1|sha256|files|reftable))$/,
          );
      },
    ),
    { numRuns: 2000 },
  );
});
