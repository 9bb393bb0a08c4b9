/** The task that a request in words names: its type, and the classes of its things; null for an unnamed part. */
interface RequestedTask {
  readonly type: string | null;
  readonly object: string | null;
  readonly receptacle: string | null;
  readonly lamp: string | null;
}

const LAMPS = ['DeskLamp', 'FloorLamp'];

/** Words that a person may use for a class of things. */
const SYNONYMS: { readonly [word: string]: string } = {
  refrigerator: 'Fridge',
  sink: 'SinkBasin',
  bathtub: 'BathtubBasin',
  bin: 'GarbageCan',
  trash: 'GarbageCan',
  trashcan: 'GarbageCan',
  counter: 'CounterTop',
  couch: 'Sofa',
  table: 'DiningTable',
  phone: 'CellPhone',
  remote: 'RemoteControl',
  keys: 'KeyChain',
  soap: 'SoapBar',
  sponge: 'DishSponge',
  stove: 'StoveBurner',
  lamp: 'DeskLamp',
  light: 'DeskLamp',
};

/** Finds the task in words such as "put an apple in the fridge"; null if they name no thing that a house can have. */
export function findTaskInWords(
  words: string,
  { objects, receptacles }: { readonly objects: readonly string[]; readonly receptacles: readonly string[] },
): RequestedTask | null {
  const text = ` ${words.toLowerCase().replaceAll(/[^a-z]+/g, ' ')} `;
  const joined = text.replaceAll(' ', '');
  const places = new Set(receptacles);
  const at = (kind: string): number => {
    const name = kind.toLowerCase();
    const single = text.search(new RegExp(` ${name}(?:e?s)? `));
    if (single >= 0) return single;
    // The words "credit card" side by side name the class CreditCard.
    const parts = kind.split(/(?=[A-Z])/).map((part) => part.toLowerCase());
    return parts.length > 1 && joined.includes(name) ? text.search(new RegExp(` ${parts.join(' ?')}(?:e?s)? `)) : -1;
  };
  const found = [...objects, ...receptacles]
    .map((kind) => ({ kind, where: at(kind) }))
    .concat(Object.entries(SYNONYMS).map(([word, kind]) => ({ kind, where: text.search(new RegExp(` ${word} `)) })))
    .filter(({ where }) => where >= 0)
    .sort((a, b) => a.where - b.where || b.kind.length - a.kind.length);
  const lamp = found.find(({ kind }) => LAMPS.includes(kind))?.kind ?? null;
  const object = found.find(({ kind }) => !places.has(kind) && !LAMPS.includes(kind))?.kind ?? null;
  const receptacle = lamp ? null : (found.findLast(({ kind }) => places.has(kind))?.kind ?? null);
  const has = (pattern: RegExp): boolean => pattern.test(text);
  const type = lamp
    ? 'look_at_obj_in_light'
    : has(/ (?:clean|wash|rinse)(?:ed)? /)
      ? 'pick_clean_then_place_in_recep'
      : has(/ (?:heat|hot|warm|microwaved)(?:ed)? /)
        ? 'pick_heat_then_place_in_recep'
        : has(/ (?:cool|cold|chill)(?:ed)? /)
          ? 'pick_cool_then_place_in_recep'
          : has(/ (?:two|both|2) /)
            ? 'pick_two_obj_and_place'
            : has(/ (?:put|place|leave|bring|move) /)
              ? 'pick_and_place_simple'
              : null;
  // A request for an unknown thing gets no task, because a task about another thing would be wrong.
  const isAnything = has(/ (?:some|any)thing /) && (receptacle ?? lamp) !== null;
  return object === null && !isAnything ? null : { type, object, receptacle, lamp };
}
