/** The text of a refused request in a review, with the refused tool if the request was a call (otherwise null). */
export const reviewTextOfRefusal = (code: string, tool: string | null): string =>
  `denied: ${code}${tool === null ? '' : ` (${tool})`}`;

export const reviewTextOfTimeLimit = (peripheral: string): string => `time limit of ${peripheral} passed`;

/** Returns the name that `textOf` put into a text; null if the text is not of that form. */
function nameIn(text: string, textOf: (name: string) => string): string | null {
  const [before = '', after = ''] = textOf('\0').split('\0');
  const name = text.slice(before.length, text.length - after.length);
  return name !== '' && text === textOf(name) ? name : null;
}

/** Reads a problem of a stored review, which is only a text; both fields are null for any other kind of problem. */
export const parseReviewProblem = (
  text: string,
): { readonly late: string | null; readonly refused: string | null } => ({
  /** The peripheral whose time limit passed. */
  late: nameIn(text, reviewTextOfTimeLimit),
  /** The tool that was refused because the peripheral does not have it. */
  refused: nameIn(text, (tool) => reviewTextOfRefusal('tool-not-allowed', tool)),
});
