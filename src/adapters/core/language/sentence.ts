/** Ends a denial's message or remedy with a period, unless it has an end mark. */
export const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
