import { shorten } from '../../../base/text.ts';
import { branchPatterns } from '../../../gate/scope/branch-patterns.ts';
import { isExcludingPattern } from '../../../spec/path-patterns.ts';
import {
  ARGUMENT_ROLES,
  type ArgumentRole,
  type ProjectConfig,
  type ScopeRule,
  type ToolParameter,
  type ToolSpec,
} from '../../../spec/types.ts';

/** Joins a list with commas; after `most` items, a count of the others follows. */
export function joinList(items: readonly string[], most: number = Number.POSITIVE_INFINITY): string {
  if (items.length <= most) return items.join(', ');
  return `${items.slice(0, most).join(', ')} and ${items.length - most} more`;
}

/** Puts a name or text from the repository on one line, so that a file name cannot begin a new line of a prompt. */
export function toOneLine(text: string, most: number = Number.POSITIVE_INFINITY): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return shorten(plain, most);
}

const typeOf = ({ schema }: ToolParameter): string => {
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join('|');
  if (typeof type === 'string' && type !== 'string') return `: ${type}`;
  return '';
};

/** The signature of a tool: `read(path, offset?: integer, limit?: integer)`. */
export const printToolSignature = ({ id, parameters }: ToolSpec): string =>
  `${id}(${parameters.map((each) => `${each.name}${each.required ? '' : '?'}${typeOf(each)}`).join(', ')})`;

export interface ScopeDescription {
  readonly reads: string;
  readonly writes: string;
  readonly commands: string;
  readonly urls: string;
  readonly resources: string;
  readonly agencies: string;
}

const MAX_LISTED = 12;

export function describeScope(rule: ScopeRule, config: ProjectConfig): ScopeDescription {
  const masks = config.mask.filter((mask) => !mask.startsWith('!'));
  return {
    reads: {
      root: `all of the repository${masks.length > 0 ? ` except masked files (${joinList(masks, 3)})` : ''}`,
      'session-log': "only files that this session's log names",
      none: 'no files',
    }[rule.read],
    writes: rule.write.length > 0 ? `only ${writePathsInWords(rule.write)}` : 'nothing',
    commands: commandsInWords(rule, config),
    urls:
      rule.url === 'none'
        ? 'none'
        : joinList(config.web.allow, MAX_LISTED) || 'none (web.allow in hopgate.yaml is empty)',
    resources: joinList(rule.resource ?? [], MAX_LISTED) || 'none',
    agencies:
      joinList(
        (rule.agency ?? []).map(({ to }) => to),
        MAX_LISTED,
      ) || 'none',
  };
}

/** The write paths in words: `src/, *.go, but not dist/`. */
function writePathsInWords(write: readonly string[]): string {
  const excluded = write.filter(isExcludingPattern).map((path) => path.slice(1));
  const included = write
    .filter((path) => !isExcludingPattern(path))
    .map((path) => (path === '.' ? 'the whole tree' : path));
  return `${joinList(included, MAX_LISTED)}${excluded.length > 0 ? `, but not ${joinList(excluded)}` : ''}`;
}

function commandsInWords({ command, write }: ScopeRule, { test, deploy, git }: ProjectConfig): string {
  const tests = test.map(({ run }) => run.join(' '));
  const ships = Object.keys(deploy);
  switch (command) {
    case 'none':
      return 'none';
    case 'read-only':
      return 'any, in a sandbox: they can read the tree but not change it; no network';
    case 'contained':
      return `any, in a sandbox: only their changes within ${writePathsInWords(write) || 'nothing'} are kept; no network`;
    case 'test':
      return tests.length > 0
        ? `only the test commands: ${joinList(tests, 6)}`
        : 'none (test in hopgate.yaml is empty)';
    case 'deploy':
      return `only git${git ? ` (push to ${git.remote} ${branchPatterns(git).join(', ')})` : ' (no push: git in hopgate.yaml is not set)'} and ${ships.length > 0 ? `the deploy commands: ${joinList(ships, 6)}` : 'no deploy command (deploy in hopgate.yaml is empty)'}`;
    default:
      return command satisfies never;
  }
}

export function describeLimitsOfTool({ parameters }: ToolSpec, scope: ScopeDescription): string {
  const roles = new Set(parameters.map(({ role }) => role));
  const touched: { readonly [role in ArgumentRole]: string | null } = {
    'path:read': `reads ${scope.reads}`,
    'path:write': `writes ${scope.writes}`,
    command: `commands: ${scope.commands}`,
    url: `hosts: ${scope.urls}`,
    resource: `resources: ${scope.resources}`,
    agency: `agency peripherals: ${scope.agencies}`,
    text: null,
  };
  const parts = ARGUMENT_ROLES.flatMap((role) => (roles.has(role) && touched[role]) || []);
  return parts.join('; ') || 'nothing of the repository';
}
