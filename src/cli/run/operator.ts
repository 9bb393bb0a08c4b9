import { confirm, isCancel } from '@clack/prompts';
import { spawnSync } from 'node:child_process';
import type { ApprovalRequest, Approver } from '../../ports/approver.ts';
import type { Json } from '../../spec/types.ts';
import { type Io, paint } from '../io.ts';
import { visible } from '../visible.ts';

/** What may answer an approval before a person is asked: the command line, or the scenario's own answer. */
export interface OperatorOptions {
  /** `--yes`: everything. */
  readonly yes: boolean;
  /** `--approve`: destinations and modes. */
  readonly approve: readonly string[];
  /** The scenario's answer for the step under way; null: it has none. */
  readonly scripted?: () => 'given' | 'refused' | null;
  readonly root: string;
  /** How a yes or no is asked on the terminal; by default a prompt of its own. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/**
 * The operator at the command line. Asked in this order: what `--yes` and `--approve` say; a person at the terminal; what the scenario says
 * for runs where nobody can be asked. Nobody there: not given.
 */
export function operatorApprover(io: Io, options: OperatorOptions): Approver {
  const asks = io.isTty && io.env['CI'] === undefined && !options.yes;
  return {
    via: asks ? 'terminal' : 'approver',
    async approve(request) {
      if (options.yes || options.approve.includes('all') || options.approve.includes(request.action.to))
        return { by: 'operator' };
      if (asks) return (await ask(io, request, options)) ? { by: 'operator' } : null;
      return options.scripted?.() === 'given' ? { by: 'operator' } : null;
    },
  };
}

async function ask(
  io: Io,
  request: ApprovalRequest,
  { root, confirm: confirmed = promptFor }: OperatorOptions,
): Promise<boolean> {
  io.stdout.write(`\n${describeRequest(io, request)}\n`);
  if (request.action.kind === 'hop' && Object.keys(request.view['changes'] ?? {}).length > 0)
    io.stdout.write(`${diffOf(root)}\n`);
  return confirmed(`Approve ${titleOf(request)}?`);
}

async function promptFor(message: string): Promise<boolean> {
  const answer = await confirm({ message, initialValue: false });
  return !isCancel(answer) && answer;
}

const titleOf = ({ action }: ApprovalRequest): string =>
  action.kind === 'hop'
    ? `the hop ${action.from} → ${action.to} (${action.exit})`
    : `mode ${action.from} → ${action.to}`;

/** The exact bytes of what is to be approved, with everything that does not show escaped. */
export function describeRequest(io: Io, request: ApprovalRequest): string {
  const rows = Object.entries(request.view).flatMap(([title, value]): [string, Json][] =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.entries(value).map(([name, item]) => [`${title}.${name}`, item])
      : [[title, value]],
  );
  return [
    paint(io, 'bold', `${request.agent} asks for ${titleOf(request)}`),
    ...(request.reason ? [`  reason: ${visible(request.reason)}`] : []),
    ...rows.map(
      ([title, value]) => `  ${title}: ${visible(typeof value === 'string' ? value : JSON.stringify(value))}`,
    ),
    paint(io, 'dim', `  sha256 ${request.hash}`),
  ].join('\n');
}

/** What would be shipped, for the person's eyes. */
function diffOf(root: string): string {
  const { stdout } = spawnSync(
    'git',
    [
      '-C',
      root,
      '-c',
      'core.fsmonitor=false',
      '-c',
      'core.hooksPath=/dev/null',
      'diff',
      '--no-ext-diff',
      '--no-textconv',
      '--no-color',
      'HEAD',
    ],
    {
      encoding: 'utf8',
      maxBuffer: 16 << 20,
      env: {
        PATH: process.env['PATH'] ?? '',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_OPTIONAL_LOCKS: '0',
      },
    },
  );
  return (stdout ?? '').split('\n').map(visible).join('\n');
}
