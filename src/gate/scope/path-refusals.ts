/** Refusals of protected and masked paths, by the gate (the text of a path) and by tools (the real path). */
export const PROTECTED_PATH_REFUSAL = {
  why: 'it steers git, an editor, an agent or hopgate itself; no agent may write it',
  remedy: 'Ask the operator to change it.',
};
export const MASKED_PATH_REFUSAL = {
  why: 'it is masked (it may hold secrets)',
  remedy: 'Do without it; only the operator can change mask in hopgate.yaml.',
};
