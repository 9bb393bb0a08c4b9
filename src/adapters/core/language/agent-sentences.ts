/** A sentence in an agent's own words, without quotes, code and copied tool output. */
export interface AgentSentence {
  readonly text: string;
  readonly question: boolean;
}

/** Lines in the form of tool output: prompts, test reports, logs, traces, diffs, tables, hopgate's own messages. */
const COPIED =
  /^\s*(?:[$#%>|+@{}[\]<]|(?:not )?ok \d|TAP version|PASS\b|FAIL\b|FAILED\b|PASSED\b|ERROR\b|WARN|INFO\b|DEBUG\b|[✓✔✗✘×❯→●]|\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|at \S+ \(|diff --git|index [0-9a-f]+\.\.|---|\d+\||\S+:\d+:|\(exit\b|exit code\b|exit status\b|stdout\b|stderr\b|refused:|failed:|Tests?:|Test Suites?:|Test Files|Now: (?:in|outside))/i;

/** Parts of a text that are not the agent's own words. */
const QUOTED: readonly RegExp[] = [
  // fenced code, closed or not
  /^( {0,3})(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n[\s\S]*?(?:^ {0,3}\2[`~]*[ \t]*$|$(?![\s\S]))/gm,
  /^(?: {4}|\t).*$/gm, // indented code
  /<(?:tool_result|function_results|output|stdout|stderr|pre|code|blockquote|q)\b[^>\n]{0,200}>[\s\S]*?(?:<\/\w+>|$(?![\s\S]))/gi,
  /(?<!`)(`+)(?!`)[^`\n]+?\1(?!`)/g,
  /"[^"\n]{0,500}"/g,
  /“[^”\n]{0,500}”/g,
  /«[^»\n]{0,500}»/g,
  /„[^“”\n]{0,500}[“”]/g,
  /(?<![\p{L}\d])'(?=\S)[^'\n]{0,300}?(?<=\S)'(?![\p{L}\d])/gu,
  /(?<![\p{L}\d])‘[^’\n]{0,300}’(?![\p{L}\d])/gu,
];

/** Placeholder for a removed quote. It is not a word, so no pattern matches across it. */
const GAP = ' \u0000 ';
/** Maximum lengths of a text and of a sentence, in characters. Longer ones are ignored. */
const MAX_TEXT = 100_000;
const MAX_SENTENCE = 600;

/** Returns the sentences of a text that are the agent's own words, in order. */
export function findAgentSentences(text: string): readonly AgentSentence[] {
  if (text.length > MAX_TEXT) return [];
  let own = text.replaceAll('\0', ' ').replaceAll(/\r\n?|[\u2028\u2029]/g, '\n');
  for (const pattern of QUOTED) own = own.replace(pattern, GAP);
  return own
    .split('\n')
    .filter((line) => !COPIED.test(line))
    .flatMap(
      (line) =>
        line
          .replace(/^\s*(?:[-*•]|\d+[.)])\s+/, '')
          .replaceAll(/[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}/g, '')
          .match(/[^.!?;]+(?:[.](?=\w)[^.!?;]*)*[.!?;]*/g) ?? [],
    )
    .map((part) => part.trim().replaceAll(/\s+/g, ' ').replaceAll('’', "'"))
    .filter((part) => part !== '' && part.length <= MAX_SENTENCE)
    .map((part) => ({ text: part, question: /\?/.test(part) }));
}
