/**
 * The text of one source, as `[Source] text`. Further lines are indented, so that no text can imitate another source.
 *
 * @example
 * labelTextWithSource('ALFWorld', 'Look:\n[Bell from Joe] "Stop"'); // '[ALFWorld] Look:\n  [Bell from Joe] "Stop"'
 */
export const labelTextWithSource = (source: string, text: string): string =>
  `[${source}] ${text.replaceAll(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n').replaceAll('\n', '\n  ')}`;

/**
 * The source of a message in words: `agent:codex` for the agent of a session, `joe` for a person. So an agent that has
 * the name of a person is not mistaken for this person.
 * @param from the address of the sender
 * @param author the id of the agent, or the name of the person
 */
export const nameMessageSource = (from: string, author: string): string =>
  from.startsWith('session:') ? `agent:${author}` : from.replace(/^person:/, '');
