import { toBody } from '../../evidence/bodies.ts';
import { type FindingsByPath, updateFindings } from '../../evidence/findings/findings.ts';
import type { StepPlan } from '../../gate/decide-step.ts';
import { needsWorkingTree } from '../../gate/decide-visit.ts';
import type { DelegateRequest, HopRequest, StartRequest } from '../../gate/request.ts';
import type { ObservedTree, SubAgentChanges } from '../../gate/scope/compare-trees.ts';
import type { CallEnvelope, ShippingLimits } from '../../ports/tool-backend.ts';
import { FILE_CHANGE_EFFECT_KINDS } from '../../spec/policy/effect-ops.ts';
import type { SessionCalls } from './session-calls.ts';

/** Observes the working tree, if a backend can and if the hop, the start or the delegation depends on it. */
export async function observeTreeIfNeeded(
  calls: SessionCalls,
  request: HopRequest | StartRequest | DelegateRequest,
): Promise<ObservedTree | undefined> {
  if (!calls.observeTree || !needsWorkingTree(calls.context(), request)) return undefined;
  const { subAgents, ...own } = await changedBySession(calls);
  const tree = await observeWorkingTree(calls, own);
  if (!tree || 'problem' in tree || Object.keys(subAgents.changes).length === 0) return tree;
  return tree.ships ? { ...tree, ships: { ...tree.ships, subAgents } } : { ...tree, subAgents };
}

/** Observes the working tree, and the session's `own` changes if the request ships any; undefined if no backend can. */
export async function observeWorkingTree(
  calls: SessionCalls,
  own: Pick<ShippingLimits, 'isOwnChange' | 'changed'> | null = null,
): Promise<ObservedTree | undefined> {
  const { root, unsafeNoSandbox, agent } = calls.writer.state.facts;
  const { signal } = new AbortController();
  const observation = { root, config: calls.configWithPaths(), unsafeNoSandbox, agent, signal, ...own };
  return calls.writer.keepLeaseDuring(async () => calls.observeTree?.(observation));
}

/** The changes that may ship from the present peripheral; empty if its scope ships nothing. */
export async function shippableChanges(
  calls: SessionCalls,
  { scope }: StepPlan,
): Promise<Pick<CallEnvelope, 'shipping'>> {
  const { visit, agent } = calls.writer.state.facts;
  if (scope.command !== 'deploy' || !visit) return {};
  const { subAgents: _, ...own } = await changedBySession(calls);
  return { shipping: { ...own, tree: visit.tree, message: visit.message, agent } };
}

/**
 * The paths that a session and its sub-agents changed (every path if some change was not observed), and the changes of
 * the sub-agents.
 */
async function changedBySession({
  parts,
  writer,
}: SessionCalls): Promise<Pick<ShippingLimits, 'isOwnChange' | 'changed'> & { readonly subAgents: SubAgentChanges }> {
  const { changes, blind, agent, sessionId } = writer.state.facts;
  const paths = new Set(changes.map(([path]) => path));
  const subAgents = { changes: {} as Record<string, string | null>, findings: {} as FindingsByPath };
  let unseen = blind;
  for (const kin of await parts.store.sessions()) {
    if (!kin.agent.startsWith(`${agent}/`)) continue;
    for await (const { entry } of parts.store.entries(kin.sessionId)) {
      const body = toBody(entry.body);
      if (body?.event === 'session-open' && body.parent !== sessionId) break;
      if (body?.event !== 'step' && body?.event !== 'outcome') continue;
      if (body.effects === 'unobserved' && body.event === 'outcome') unseen = true;
      if (body.effects === 'unobserved') continue;
      for (const { op, path, after = null } of body.effects)
        if (FILE_CHANGE_EFFECT_KINDS.includes(op)) subAgents.changes[path] = after;
      updateFindings(subAgents.findings, body.effects, undefined);
    }
  }
  for (const path of Object.keys(subAgents.changes)) paths.add(path);
  return { isOwnChange: (path) => unseen || paths.has(path), changed: [...paths], subAgents };
}
