import { splitWords } from '../../base/text.ts';

/** Globs of files that agents' programs read as instructions; matched at any depth, ignoring letter case. */
export const INSTRUCTION_FILES: readonly string[] = splitWords(`
  CLAUDE.md CLAUDE.local.md AGENTS.md AGENTS.override.md AGENT.md GEMINI.md QWEN.md CRUSH.md WARP.md CONVENTIONS.md
  SKILL.md .github/copilot-instructions.md .github/instructions/** .github/prompts/**
`);
