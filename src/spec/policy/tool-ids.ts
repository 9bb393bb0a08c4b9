import { COMMAND_TOOLS } from './command-tools.ts';

/** The tools that every adapter adds to the tools of the peripheral. No tool of a catalogue may have these names. */
export const CONTROLS = ['hop', 'mode', 'status', 'why'] as const;

export const AGENCY_TOOL_ID = 'agency-run';

/** The backends that are loaded at the first call of one of their tools. */
export const LAZY_BACKENDS = {
  shell: { name: 'shell', tools: Object.keys(COMMAND_TOOLS).filter((id) => COMMAND_TOOLS[id]?.runs !== 'git') },
  git: { name: 'git', tools: ['bash-git'] },
  web: { name: 'web', tools: ['web-fetch'] },
  sessionLog: { name: 'session-log', tools: ['musn-log'] },
  environment: { name: 'environment', tools: ['alfworld-action'] },
  messages: { name: 'messages', tools: ['bell', 'whistle'] },
  agency: { name: 'agency', tools: [AGENCY_TOOL_ID] },
  discipline: {
    name: 'discipline',
    tools: ['psr-search', 'psr-select', 'pur-update', 'pur-mark-pivot', 'par-punctuate'],
  },
} as const;
