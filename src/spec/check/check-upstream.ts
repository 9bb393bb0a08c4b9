import type { PartiallyParsed } from '../schema/parse-partial.ts';
import type { ProjectFile } from '../schema/project-file.ts';
import type { ReportSpecProblem } from './spec-problem.ts';

type Servers = PartiallyParsed<NonNullable<ProjectFile['upstream']>>;

/** Matches names of secrets. hopgate.yaml is committed and pinned, so it must not contain a secret. */
const SECRET_NAME =
  /(?:^|[_-])(?:token|secret|password|passwd|authorization|cookie|credentials?|(?:api|access|private)[_-]?key)$/i;

const LOOKS_SECRET = [
  'looks like a secret, which must not be in this file',
  'write ${NAME}, and set NAME where hopgate is started',
] as const;

/** Matches secrets in a command line or an address, such as `--token=abc` or `?api_key=abc`. */
const SECRET_VALUE =
  /(?:^-{1,2}|[?&])(?:[\w-]*[_-])?(?:token|secret|password|passwd|(?:api|access|private)[_-]?key)=(?!\$\{)./i;

/** Checks the keys of each server against each other. */
export function checkUpstreamServers(servers: Servers, report: ReportSpecProblem): void {
  for (const [name, server] of Object.entries(servers)) {
    if (server === undefined) continue;
    const at = ['upstream', name];
    if ((server.command === undefined) === (server.url === undefined))
      report(at, 'needs either a command or a url', 'keep one of them');
    else if (server.url === undefined && server.headers !== undefined)
      report([...at, 'headers'], 'is only allowed with a url', 'use env to give values to a program');
    else if (server.url !== undefined)
      for (const key of ['env', 'cwd'] as const)
        if (server[key] !== undefined)
          report([...at, key], 'is only allowed with a command', 'use headers to send values to an address');
    const words = [
      ...(server.command ?? []).map((word, index) => ({ path: [...at, 'command', index], word })),
      ...(server.url === undefined ? [] : [{ path: [...at, 'url'], word: server.url }]),
    ];
    for (const { path, word } of words)
      if (word !== undefined && SECRET_VALUE.test(word)) report(path, ...LOOKS_SECRET);
    for (const part of ['env', 'headers'] as const)
      for (const [key, value] of Object.entries(server[part] ?? {}))
        if (SECRET_NAME.test(key) && value !== undefined && !value.includes('${'))
          report([...at, part, key], ...LOOKS_SECRET);
  }
}
