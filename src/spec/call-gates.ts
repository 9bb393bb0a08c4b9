import { getOwn } from './names.ts';
import { INSTALL_TOOL_ID } from './policy/command-tools.ts';
import type { PeripheralSpec, ToolGate, ToolSpec } from './types.ts';

/**
 * The requirements of each call of a tool in a peripheral: the requirements of the tool, then the requirements that the
 * peripheral adds.
 */
export function gatesOfCall({ id, gates = [] }: ToolSpec, peripheral: PeripheralSpec | undefined): readonly ToolGate[] {
  const here = getOwn(peripheral?.calls ?? {}, id);
  return here ? [...gates, ...here] : gates;
}

/** True if some calls of a tool in a peripheral need an approval. The configuration says which installs need one. */
export const mayNeedApproval = (tool: ToolSpec, peripheral: PeripheralSpec | undefined): boolean =>
  tool.id === INSTALL_TOOL_ID || gatesOfCall(tool, peripheral).some(({ kind }) => kind === 'approval');
