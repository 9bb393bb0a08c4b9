/** Refusals of protected and masked paths, by the gate (the text of a path) and by tools (the real path). */
export const PROTECTED_PATH_REFUSAL = {
  why: 'the file controls git, an editor, an agent or hopgate itself, so no agent may write it',
  remedy: 'Ask the operator to change it.',
};
export const MASKED_PATH_REFUSAL = {
  why: 'the file is masked (it may contain secrets)',
  remedy: 'Continue without the file; only the operator can change mask in hopgate.yaml.',
};
/** The remedy for a path with a control character: the path is misspelt, or the file has such a name. */
export const CONTROL_CHARACTER_REMEDY =
  'Give the path without the character. A file whose name contains one has to be renamed first.';
