/** The maximum number of turns in which a model waits for a message. */
const LOOKS = 40;

/** The id of the message with this text in the model's input. */
const messageIn = (input: string, text: string): string | undefined =>
  new RegExp(`\\[(?:bell|whistle)[^\\]]*, id (m-[\\w@-]+)\\] "${text.replace('?', '\\?')}"`).exec(input)?.[1];

type Act<T> = (input: string) => T | null | Promise<T | null>;

/**
 * A model that plays acts one after the other. Each act gets all that reached the model so far, because messages may
 * arrive with the result of an earlier call. If an act returns null, the model makes the call `look` and tries again.
 */
export function player<T>(look: T, acts: readonly Act<T>[]) {
  const left = [...acts];
  let seen = '';
  return Array.from({ length: LOOKS }, () => async (results: string, messages: string) => {
    seen += `${results}\n${messages}\n`;
    const next = await left[0]?.(seen);
    if (next === null) return look;
    left.shift();
    return next ?? ({ text: 'done' } as T);
  });
}

/** Acts that add the texts that reached the model to `received`. */
export const receiving = (received: string[]) => ({
  /** Waits for a message, and answers it. */
  answering:
    <T>(name: string, text: string, reply: string, to: string, bell: (input: object) => T): Act<T> =>
    (input) => {
      const ref = messageIn(input, text);
      if (ref === undefined) return null;
      received.push(`${name}: ${text}`);
      return bell({ to, act: 'answer', ref, text: reply });
    },
  /** Waits for a text. */
  expecting:
    <T>(name: string, text: string, then: T): Act<T> =>
    (input) => {
      if (!input.includes(text)) return null;
      received.push(`${name}: ${text}`);
      return then;
    },
});
