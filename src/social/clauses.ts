/** Abbreviations in chats, and their full words. */
const FULL_WORDS: { readonly [word: string]: string } = {
  ...{ pls: 'please', plz: 'please', u: 'you', ur: 'your', thx: 'thanks', teh: 'the', cuz: 'because', dont: "don't" },
};
const CHAT = new RegExp(String.raw`(?<![\w'/.-])(?:${Object.keys(FULL_WORDS).join('|')})(?![\w'/-]|\.\w)`, 'g');

/** Matches the heading of a list of the sender's own work: "my plan for today:". */
export const OWN_WORK_HEADING_PATTERN =
  /^(?:my|our) (?:\w+ )?(?:plan|plans|list|checklist|to-?do(?: list)?|agenda|tasks|next steps?)\b[^:]*:/;

/** The word that replaces quoted text and code. */
const THING = 'thing';

/**
 * The clauses of a text, in lower case, without quotations, code, greetings and courtesies. A quotation is nobody's
 * request, unless the text has nothing else. Pure.
 *
 * @example
 * splitIntoClauses('Hi Ann, fix `a.ts` please. Bob said "delete it".') // ['fix thing please', 'bob said thing']
 */
export function splitIntoClauses(text: string): readonly string[] {
  const plain = text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[‘’`´]s\b/g, "'s")
    .replace(/[’‘]/g, "'")
    .replace(/[“”„«»]/g, '"');
  const own = plain
    .replace(/```[\s\S]*?(?:```|$)/g, ` ${THING} `)
    .replace(/^[ \t]*>.*$/gm, '')
    .replace(/`[^`\n]+`/g, THING)
    .replace(/"[^"\n]*"/g, THING)
    .replace(/(?<![\w])'[^'\n]{2,}'(?![\w])/g, THING);
  const words = own.replaceAll(THING, '').replace(/\W/g, '');
  const read = words === '' ? plain.replace(/["`>]/g, ' ') : own;
  return read
    .toLowerCase()
    .replace(CHAT, (word) => FULL_WORDS[word]!)
    .split(/(?<=[.!?…])\s+|[;\n]+|\s[-–—]+\s|,\s+(?=(?:and|but|then|so|or|otherwise)\b)/u)
    .flatMap((sentence) =>
      (OWN_WORK_HEADING_PATTERN.test(sentence) ? [sentence] : sentence.split(/(?<=\w):\s+(?!\/\/)(?=\S)/)).map(
        trimClause,
      ),
    )
    .filter((clause) => /[\p{L}\p{N}+]/u.test(clause));
}

const trimClause = (clause: string): string =>
  clause
    .replace(/^[\s*#\-–—•>\d.)(,:]+(?=\s|\p{L})/u, '')
    .replace(/\s+/g, ' ')
    .trim();
