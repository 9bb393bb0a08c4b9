/** How often a model looks at its situation until the message is there. */
const LOOKS = 40;

/** The id of the message with this text in the model's input. */
const messageIn = (told: string, text: string): string | undefined =>
  new RegExp(`\\[(?:bell|whistle)[^\\]]*, id (m-[\\w@-]+)\\] "${text.replace('?', '\\?')}"`).exec(told)?.[1];

type Act<T> = (told: string) => T | null | Promise<T | null>;

/** A model that plays acts one after the other; an act that gives null has to wait, and the model looks again. */
export function player<T>(look: T, acts: readonly Act<T>[]) {
  const left = [...acts];
  return Array.from({ length: LOOKS }, () => async (results: string, messages: string) => {
    const next = await left[0]?.(`${results}\n${messages}`);
    if (next === null) return look;
    left.shift();
    return next ?? ({ text: 'done' } as T);
  });
}

/** Acts that add the texts that reached the model to `heard`. */
export const hearing = (heard: string[]) => ({
  /** Waits for a message, and answers it. */
  answering:
    <T>(name: string, text: string, reply: string, to: string, bell: (input: object) => T): Act<T> =>
    (told) => {
      const ref = messageIn(told, text);
      if (ref === undefined) return null;
      heard.push(`${name}: ${text}`);
      return bell({ to, act: 'answer', ref, text: reply });
    },
  /** Waits for a text. */
  hears:
    <T>(name: string, text: string, then: T): Act<T> =>
    (told) => {
      if (!told.includes(text)) return null;
      heard.push(`${name}: ${text}`);
      return then;
    },
});
