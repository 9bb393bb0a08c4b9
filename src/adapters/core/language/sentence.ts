/** A denial's message or remedy as a sentence: some end as one, some are only a part of one. */
export const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
