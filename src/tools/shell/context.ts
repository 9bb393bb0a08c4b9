import type { ToolCall } from '../../ports/tool-backend.ts';
import type { Layout } from '../sandbox/layout.ts';
import type { TreeRequest } from '../sandbox/layouts.ts';
import { runUnsandboxed } from '../sandbox/run-unsandboxed.ts';
import type { CommandResult, RunOptions, Sandbox } from '../sandbox/sandbox.ts';
import type { Stop } from '../workspace/outcome.ts';

/** One call on its way through the shell backend. */
export interface ShellContext {
  readonly call: ToolCall;
  /** False: the operator opened the shell tools on a host that cannot contain them. */
  readonly contained: boolean;
  /** Layouts with an overlay work here. */
  readonly overlay: boolean;
  /** Runs a command within the call's limits, in the layout if we are contained, else bare. */
  run(layout: Layout, argv: readonly string[], options?: Partial<RunOptions>): Promise<CommandResult>;
}

/** The context of a call; a refusal if this host cannot contain commands and the operator did not open it regardless. */
export function shellContext(sandbox: Sandbox, call: ToolCall): ShellContext | Stop {
  const { availability } = sandbox;
  if (!availability.ok && !call.grant.unsafeNoSandbox) {
    const message = `Commands cannot be contained here: ${availability.reason}.`;
    return { stop: { status: 'refused', code: 'sandbox-unavailable', message, remedy: availability.remedy } };
  }
  const run = availability.ok ? sandbox.run.bind(sandbox) : runUnsandboxed;
  const limits = call.tool.limits;
  return {
    call,
    contained: availability.ok,
    overlay: availability.ok && availability.overlay,
    run: (layout, argv, options) =>
      run(layout, argv, { seconds: limits.seconds, outputBytes: limits.outputBytes, signal: call.signal, ...options }),
  };
}

/** What the layouts need to know of a call. */
export const treeOf = ({ grant }: ToolCall): TreeRequest => ({
  root: grant.root,
  masks: grant.config.mask,
  toolchains: grant.config.toolchains,
});

/** A refusal where commands can be contained but overlays cannot be mounted, and the tool needs one. */
export function overlayRefusal(context: ShellContext): Stop | null {
  if (!context.contained || context.overlay) return null;
  const message = 'Commands that write cannot be contained here: overlayfs cannot be mounted.';
  const remedy =
    'Ask the operator for Linux 5.11 or later with user namespaces; until then use bash-readonly, edit and write.';
  return { stop: { status: 'refused', code: 'sandbox-unavailable', message, remedy } };
}
