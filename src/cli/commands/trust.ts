import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { confirm, isCancel } from '@clack/prompts';
import { readRegularFile } from '../../base/read-file.ts';
import { escapeInvisible } from '../../base/text.ts';
import { CONFIG_FILE } from '../../project/repository-root.ts';
import { currentTrustRecord } from '../../project/trust.ts';
import { readTrustRecord, revokeTrust, writeTrustRecord } from '../../project/trust-record.ts';
import { readProjectFile } from '../../spec/load/load-project-config.ts';
import { MAX_AUTHORED_FILE_BYTES } from '../../spec/policy/limits.ts';
import type { CliCommand } from '../cli-command.ts';
import { CliError, formatHeading, type Io, paint, print, printResult } from '../io.ts';
import { type RootOption, resolveRootOption, rootOption } from '../shared-options.ts';

interface Options extends RootOption {
  readonly yes?: boolean;
  readonly revoke?: boolean;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      `Shows ${CONFIG_FILE}, and records its hash when you trust it. Its commands, hosts and paths then take effect. A file that is not trusted can only restrict what the specs allow. Trust it again after each change.`,
    )
    .addOption(rootOption())
    .option('-y, --yes', 'trust without asking')
    .option('--revoke', 'withdraw the trust')
    .examples('hopgate trust', 'hopgate trust --yes --root ../shop', 'hopgate trust --revoke')
    .action((options: Options) => trust(io, options));
}

async function trust(io: Io, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const file = join(root, CONFIG_FILE);
  if (options.revoke) {
    const revoked = revokeTrust(root, io.env);
    const bytes = readProjectFile(root);
    const hash = bytes === null ? null : createHash('sha256').update(bytes).digest('hex');
    const other = hash === null ? null : readTrustRecord(root, hash, io.env);
    const elsewhere = other !== null && other.config === hash ? other.root : null;
    printResult(
      io,
      { file, trusted: elsewhere !== null, revoked, ...(elsewhere ? { elsewhere } : {}) },
      revoked ? `${file} is not trusted any more.` : `${file} was not trusted.`,
    );
    if (elsewhere !== null && !io.json)
      print(io, `The same file is trusted in ${elsewhere}; run "hopgate trust --revoke" there.`);
    return;
  }

  const next = await currentTrustRecord(root);
  const last = readTrustRecord(root, next.config, io.env);
  if (last?.config === next.config && last.specs?.hash === next.specs?.hash) {
    const where = last.root === root ? '' : `, in ${last.root}`;
    const text = `${file} is trusted (sha256 ${next.config.slice(0, 16)}…, since ${last.at}${where}).`;
    return printResult(io, { file, trusted: true, changed: false, record: last }, text);
  }
  if (!options.yes) {
    if (!io.isTty || io.json)
      throw new CliError(
        'not-asked',
        `${file} is not trusted, and hopgate cannot ask, because there is no terminal`,
        'Read it, then run "hopgate trust --yes".',
      );
    const text = readRegularFile(file, MAX_AUTHORED_FILE_BYTES);
    if (createHash('sha256').update(text).digest('hex') !== next.config)
      throw new CliError('config-changed', `${file} changed while it was read`, 'Run this again.');
    print(io, formatHeading(io, file));
    print(io, quoted(io, text.toString('utf8')));
    if (next.specs !== null)
      print(io, `It also names the spec folder ${next.specs.folder} (spec set ${next.specs.hash.slice(0, 16)}…).`);
    const answer = await confirm({
      message: 'Do you trust this file for agents in this repository?',
      initialValue: false,
      input: io.stdin,
      output: io.stdout,
    });
    if (isCancel(answer) || !answer)
      throw new CliError('not-trusted', `${file} stays untrusted`, 'Until then, it can only restrict the specs.');
  }
  // Records the hashes of the shown files. A file that changes later has another hash and is not trusted.
  writeTrustRecord(next, io.env);
  const text = `Trusted ${file} (sha256 ${next.config.slice(0, 16)}…).`;
  printResult(io, { file, trusted: true, changed: true, record: next }, text);
}

/** Prefixes each line of the file with a bar, and escapes control characters for the terminal. */
const quoted = (io: Io, text: string): string =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${paint(io, 'dim', '│')} ${escapeInvisible(line)}`)
    .join('\n');
