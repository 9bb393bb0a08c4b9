import type { MessageAct } from '../ports/message-store.ts';

export const ACTS: { readonly [act in MessageAct]: string } = {
  query: 'asks for a fact',
  answer: 'answers a message',
  assert: 'states a fact',
  challenge: 'doubts a statement',
  agree: 'accepts a statement',
  define: 'fixes the meaning of a word',
  retract: 'takes a statement back',
  suggest: 'proposes something',
  request: 'asks for an action',
};

export const isAct = (word: unknown): word is MessageAct => typeof word === 'string' && Object.hasOwn(ACTS, word);

/** Maximum number of characters in a message's text. */
export const MAX_TEXT = 16_384;
