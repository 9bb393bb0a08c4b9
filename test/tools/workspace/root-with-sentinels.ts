import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { CallEnvelope, ToolCall, ToolOutcome, ToolReport } from '../../../src/ports/tool-backend.ts';
import { workspaceBackend } from '../../../src/tools/workspace/workspace-backend.ts';
import { namesBelow, picture, toolCall } from '../../contracts/tool-backend.ts';

/** A root with a sentinel tree next to it; every text that must never be seen contains the word OUTSIDE. */
export interface World {
  readonly base: string;
  readonly root: string;
  /** Makes files below `base`; keys are paths such as `root/src/a.ts`. */
  make(files: { readonly [path: string]: string | Uint8Array }): void;
  /** Makes a link below `base`. */
  link(path: string, target: string): void;
  text(path: string): string;
  exists(path: string): boolean;
  call(
    tool: string,
    args: ToolCall['args'],
    envelope?: Partial<CallEnvelope>,
    more?: Parameters<typeof toolCall>[3],
  ): ToolCall;
  run(
    tool: string,
    args: ToolCall['args'],
    envelope?: Partial<CallEnvelope>,
    more?: Parameters<typeof toolCall>[3],
  ): Promise<ToolReport>;
  /** The outcome flattened, for short expectations. */
  ask(
    tool: string,
    args: ToolCall['args'],
    envelope?: Partial<CallEnvelope>,
    more?: Parameters<typeof toolCall>[3],
  ): Promise<ToolOutcome>;
  /** The tree next to the root, as one string. */
  outside(): string;
  /** Names of temporary files that were left behind. */
  leftovers(): string[];
}

export function makeWorld(options: Parameters<typeof workspaceBackend>[0] = {}): World & { remove(): void } {
  const base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hopgate-workspace-')));
  const root = path.join(base, 'root');
  const backend = workspaceBackend(options);
  const world: World & { remove(): void } = {
    base,
    root,
    make(files) {
      for (const [name, content] of Object.entries(files)) {
        fs.mkdirSync(path.dirname(path.join(base, name)), { recursive: true });
        fs.writeFileSync(path.join(base, name), content);
      }
    },
    link: (name, target) => fs.symlinkSync(target, path.join(base, name)),
    text: (name) => fs.readFileSync(path.join(base, name), 'utf8'),
    exists: (name) => fs.existsSync(path.join(base, name)),
    call: (tool, args, envelope = {}, more = {}) => toolCall(tool, args, { root, ...envelope }, more),
    run: (tool, args, envelope, more) => backend.run(world.call(tool, args, envelope, more)),
    ask: async (tool, args, envelope, more) => (await world.run(tool, args, envelope, more)).outcome,
    outside: () =>
      picture(path.join(base, 'beside')) + picture(path.join(base, 'src-evil')) + picture(path.join(base, 'root-evil')),
    leftovers: () => namesBelow(base).filter((name) => /\.tmp$/.test(name)),
    remove: () => fs.rmSync(base, { recursive: true, force: true }),
  };
  world.make({
    'root/src/a.ts': 'one\ntwo\nthree\n',
    'root/docs/guide.md': 'two words\n',
    'root/src-evil/a.ts': 'not in scope\n',
    'beside/secret.txt': 'OUTSIDE\n',
    'beside/deep/a.ts': 'OUTSIDE two\n',
    'root-evil/a.ts': 'OUTSIDE\n',
    'src-evil/a.ts': 'OUTSIDE\n',
  });
  return world;
}

/** A fresh world for each test. */
export function freshWorld(options: Parameters<typeof workspaceBackend>[0] = {}): () => World {
  let world: ReturnType<typeof makeWorld>;
  beforeEach(() => {
    world = makeWorld(options);
  });
  afterEach(() => world.remove());
  return () => world;
}

/** The result of a call that must have succeeded. */
export function resultOf<T>(outcome: ToolOutcome): T {
  if (outcome.status !== 'ok') throw new Error(`not ok: ${JSON.stringify(outcome)}`);
  return outcome.result as T;
}
