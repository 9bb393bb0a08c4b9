import vocabulary from './vocabulary.json' with { type: 'json' };

/** The names of ALFRED's classes by what can be done with them; facts from ALFWorld's `gen/constants.py` (MIT). */
export const ABLE: { readonly [ability: string]: ReadonlySet<string> } = {
  cleanable: new Set(vocabulary.actions.Cleanable),
  heatable: new Set(vocabulary.actions.Heatable),
  coolable: new Set(vocabulary.actions.Coolable),
  sliceable: new Set(vocabulary.actions.Sliceable),
  toggleable: new Set(vocabulary.actions.Toggleable),
  isreceptacleobject: new Set(vocabulary.movableReceptacles),
};

/** The classes that a receptacle's class may contain. */
export const CONTAINS: { readonly [receptacle: string]: readonly string[] } = vocabulary.contains;

/** The classes of receptacles that open; a single one may nevertheless be fixed open. */
export const OPENABLE: ReadonlySet<string> = new Set(vocabulary.openable);

/** All classes of things, and the classes of receptacles that cannot be moved. */
export const OBJECTS: readonly string[] = vocabulary.objects;
export const RECEPTACLES: readonly string[] = vocabulary.staticReceptacles;
