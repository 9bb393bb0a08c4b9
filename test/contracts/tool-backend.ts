import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallEnvelope, ToolBackend, ToolCall, ToolReport } from '../../src/ports/tool-backend.ts';
import { OBSERVED_EFFECT_KINDS } from '../../src/spec/policy/effect-ops.ts';
import type { Json, ToolEffect } from '../../src/spec/types.ts';

const KEBAB = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** One call that every implementation must answer, and the required answer. */
export interface ContractCase {
  readonly what: string;
  readonly tool: string;
  readonly args: { readonly [name: string]: Json };
  readonly ends: ToolReport['outcome']['status'];
  /** The stable word of a failure or refusal. */
  readonly code?: string;
  /** Paths of the effects, where the backend observes them. */
  readonly effects?: readonly string[];
  readonly envelope?: Partial<CallEnvelope>;
}

/**
 * Calls that would reach outside if the backend followed a link: `src/out` leads to the folder `beside`,
 * `src/secret.txt` to the file in it. Or the reason why no call of the backend names a place in the tree.
 */
export type LinkCases = readonly Omit<ContractCase, 'effects'>[] | { readonly none: string };

export interface BackendUnderTest {
  readonly backend: ToolBackend;
  readonly cases: readonly ContractCase[];
  readonly envelope?: Partial<CallEnvelope>;
  readonly effect?: ToolEffect;
  readonly sessionId?: string;
}

export const ENVELOPE: Omit<CallEnvelope, 'root'> = {
  peripheral: 'edit',
  scope: { read: 'root', write: ['src/'], command: 'none', url: 'none' },
  readableFiles: null,
  config: {
    specs: 'default',
    scopes: {},
    test: [],
    deploy: {},
    git: null,
    web: { allow: [] },
    mask: ['.env', 'secrets/', '**/*.pem'],
    toolchains: [],
  },
  unsafeNoSandbox: false,
};

export function toolCall(
  id: string,
  args: ToolCall['args'],
  envelope: Partial<CallEnvelope> & { readonly root: string },
  more: {
    readonly signal?: AbortSignal;
    readonly limits?: Partial<ToolCall['tool']['limits']>;
    readonly effect?: ToolEffect;
    readonly sessionId?: string;
  } = {},
): ToolCall {
  return {
    tool: {
      id,
      purpose: 'as tested',
      effect: more.effect ?? 'act',
      parameters: [],
      limits: { seconds: 20, outputBytes: 100_000, ...more.limits },
    },
    args,
    envelope: { ...ENVELOPE, ...envelope },
    sessionId: more.sessionId ?? 'session-1',
    signal: more.signal ?? new AbortController().signal,
  };
}

/** The names of everything below a folder, sorted; links are not followed. */
export function namesBelow(folder: string, below = ''): string[] {
  const entries = fs.readdirSync(path.join(folder, below), { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const name = path.join(below, entry.name);
      return entry.isDirectory() ? [name, ...namesBelow(folder, name)] : [name];
    })
    .sort();
}

/** Everything in a folder: names, kinds, modes, contents and targets, as one string to compare. */
export function picture(folder: string): string {
  const rows = namesBelow(folder).map((name) => {
    const stat = fs.lstatSync(path.join(folder, name));
    const content = stat.isFile()
      ? fs.readFileSync(path.join(folder, name)).toString('base64')
      : stat.isSymbolicLink()
        ? fs.readlinkSync(path.join(folder, name))
        : '';
    return `${name} ${stat.mode} ${stat.nlink} ${content}`;
  });
  return rows.join('\n');
}

/**
 * The contract of every tool backend. `open` is given a fresh root (with `src/main.ts` in it) inside a folder that also
 * contains a sentinel tree, which no call may change.
 */
export function toolBackendContract(
  name: string,
  open: (root: string) => BackendUnderTest | Promise<BackendUnderTest>,
  links: LinkCases,
): void {
  describe(`tool backend: ${name}`, () => {
    let base: string;
    let root: string;
    let under: BackendUnderTest;
    const call = ({ tool, args, envelope }: Pick<ContractCase, 'tool' | 'args' | 'envelope'>, signal?: AbortSignal) => {
      const { effect, sessionId } = under;
      return toolCall(tool, args, { ...under.envelope, ...envelope, root }, { signal, effect, sessionId });
    };

    beforeEach(async () => {
      base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hopgate-contract-')));
      root = path.join(base, 'root');
      fs.mkdirSync(path.join(root, 'src'), { recursive: true });
      fs.writeFileSync(path.join(root, 'src/main.ts'), 'const one = 1;\n');
      fs.mkdirSync(path.join(base, 'beside'));
      fs.writeFileSync(path.join(base, 'beside/secret.txt'), 'outside\n');
      fs.mkdirSync(path.join(base, 'root-evil'));
      fs.writeFileSync(path.join(base, 'root-evil/main.ts'), 'evil\n');
      under = await open(root);
    });
    afterEach(async () => {
      await under.backend.close?.();
      fs.rmSync(base, { recursive: true, force: true });
    });
    const sentinels = () => picture(path.join(base, 'beside')) + picture(path.join(base, 'root-evil'));

    it('has a name, distinct tools, and a case for each of them', () => {
      expect(under.backend.name).not.toBe('');
      expect(under.backend.tools.length).toBeGreaterThan(0);
      expect(new Set(under.backend.tools).size).toBe(under.backend.tools.length);
      expect(new Set(under.cases.map(({ tool }) => tool))).toEqual(new Set(under.backend.tools));
    });

    it('answers each case with a value and changes nothing outside the root', async () => {
      const before = sentinels();
      for (const one of under.cases) {
        const report = await under.backend.run(call(one));
        expect(report.outcome.status, `${one.what}: ${JSON.stringify(report.outcome)}`).toBe(one.ends);
        if (one.code !== undefined) expect(report.outcome, one.what).toMatchObject({ code: one.code });
        expectWellFormed(report, one.what);
        if (one.effects && report.effects !== 'unobserved')
          expect(report.effects.map((effect) => effect.path).sort(), one.what).toEqual([...one.effects].sort());
      }
      expect(sentinels()).toBe(before);
    });

    it('does nothing after the call is aborted', async () => {
      const before = picture(base);
      for (const one of under.cases) {
        const report = await under.backend.run(call(one, AbortSignal.abort()));
        expect(report.outcome, one.what).toMatchObject({ status: 'failed', code: 'aborted' });
      }
      expect(picture(base)).toBe(before);
    });

    if ('none' in links) it.skip(`follows no link out of the root: it has no such call, ${links.none}`);
    else
      it('follows no link out of the root', async () => {
        fs.symlinkSync('../../beside', path.join(root, 'src/out'));
        fs.symlinkSync('../../beside/secret.txt', path.join(root, 'src/secret.txt'));
        const before = sentinels();
        for (const one of links) {
          const report = await under.backend.run(call(one));
          expect(report.outcome.status, `${one.what}: ${JSON.stringify(report.outcome)}`).toBe(one.ends);
          if (one.code !== undefined) expect(report.outcome, one.what).toMatchObject({ code: one.code });
          expect(JSON.stringify(report), one.what).not.toContain('outside');
          expectWellFormed(report, one.what);
        }
        expect(sentinels()).toBe(before);
      });

    it('can be closed more than once', async () => {
      await under.backend.close?.();
      await under.backend.close?.();
    });
  });
}

function expectWellFormed({ outcome, effects }: ToolReport, what: string): void {
  if (outcome.status !== 'ok') {
    expect(outcome.code, what).toMatch(KEBAB);
    expect(outcome.message, what).not.toBe('');
  }
  if (outcome.status === 'refused') expect(outcome.remedy, what).not.toBe('');
  if (outcome.status === 'ok') expect(JSON.parse(JSON.stringify(outcome.result)), what).toEqual(outcome.result);
  if (effects === 'unobserved') return;
  for (const effect of effects) {
    expect(OBSERVED_EFFECT_KINDS, what).toContain(effect.op);
    expect(effect.path.startsWith('/') || effect.path.split('/').includes('..'), `${what}: ${effect.path}`).toBe(false);
  }
}
