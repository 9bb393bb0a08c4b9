import type { SpeechAct } from '../ports/message-store.ts';

export const SPEECH_ACTS: { readonly [act in SpeechAct]: string } = {
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

export const isSpeechAct = (word: unknown): word is SpeechAct =>
  typeof word === 'string' && Object.hasOwn(SPEECH_ACTS, word);

export const MAX_MESSAGE_CHARS = 16_384;
