import { bodyOf } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import { learningCycles } from '../../evidence/patterns/learning-cycles.ts';
import { withoutToolOutput } from '../../evidence/patterns/remove-output.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type { ToolBackend, ToolOutcome, ToolReport } from '../../ports/tool-backend.ts';
import { reportIfAborted } from '../tool-outcomes.ts';
import { workspaceBackend } from '../workspace/workspace-backend.ts';
import { parPunctuateTool } from './par-punctuate-tool.ts';
import type { PatternContext } from './pattern-context.ts';
import { loadPatternLibrary } from './pattern-library.ts';
import { psrSearchTool } from './psr-search-tool.ts';
import { psrSelectTool } from './psr-select-tool.ts';
import { purMarkPivotTool } from './pur-mark-pivot-tool.ts';
import { purUpdateTool } from './pur-update-tool.ts';

type Tool = (context: PatternContext) => Promise<ToolOutcome> | ToolOutcome;

const TOOLS: { readonly [id: string]: Tool } = {
  'psr-search': psrSearchTool,
  'psr-select': psrSelectTool,
  'pur-update': purUpdateTool,
  'pur-mark-pivot': purMarkPivotTool,
  'par-punctuate': parPunctuateTool,
};

/**
 * Pattern tools: search patterns, select one (PSR), record its outcome (PUR), mark a pivot, write a review (PAR). The
 * tools change only the session's evidence. They read it to find the selected patterns; an outcome without its
 * selection is refused.
 */
export function disciplineBackend(store: EvidenceStore): ToolBackend {
  const files = workspaceBackend();
  return {
    name: 'discipline',
    tools: Object.keys(TOOLS),
    async run(call): Promise<ToolReport> {
      const tool = Object.hasOwn(TOOLS, call.tool.id) ? TOOLS[call.tool.id] : undefined;
      if (!tool) throw new Error(`[tools/discipline] serves no tool "${call.tool.id}"`);
      const aborted = reportIfAborted(call);
      if (aborted) return aborted;
      const entries: Entry[] = [];
      for await (const { entry } of store.entries(call.sessionId))
        if (bodyOf(entry.body)) entries.push(withoutToolOutput(entry));
      const read = new Set<string>();
      const library = async () => {
        const found = await loadPatternLibrary(call, files);
        for (const file of found.read) read.add(file);
        return found;
      };
      const outcome = await tool({ call, entries, cycles: learningCycles(entries), library });
      return { outcome, effects: [...read].map((path) => ({ path, op: 'read' as const })) };
    },
  };
}
