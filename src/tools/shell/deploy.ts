import type { ToolReport } from '../../ports/tool-backend.ts';
import type { Stop } from '../workspace/outcome.ts';
import type { ShellContext } from './context.ts';
export async function deployTool(_context: ShellContext): Promise<ToolReport | Stop> {
  throw new Error('todo');
}
