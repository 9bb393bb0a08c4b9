/** Short names for groups of receptacle classes. */
const GROUPS: { readonly [group: string]: string } = {
  surface: 'CoffeeTable CounterTop DiningTable SideTable',
  seat: 'ArmChair Ottoman Sofa',
  pan: 'Pan Pot',
};

/**
 * ALFRED's classes, one per line: the class, its abilities, and the receptacles that may contain it. From ALFWorld's
 * `gen/constants.py` (MIT), which has PaintingHanger only among the receptacles.
 */
const CLASSES = `
AlarmClock: ; surface Box Desk Dresser Plate Shelf
Apple: heatable coolable cleanable sliceable; pan surface Bowl Fridge GarbageCan Microwave Plate SinkBasin
AppleSliced: heatable coolable cleanable; pan surface Bowl Fridge GarbageCan Microwave Plate SinkBasin
ArmChair: stays
BaseballBat: ; surface Bed
BasketBall: ; seat surface Bed Desk Dresser
Bathtub: stays
BathtubBasin: stays
Bed: stays
Blinds:
Book: ; seat surface Bed Box Cabinet Desk Drawer Dresser Plate Shelf
Boots:
Bowl: coolable cleanable isreceptacleobject; surface Cabinet Desk Dresser Fridge Microwave Shelf SinkBasin
Box: openable isreceptacleobject; seat surface Cabinet Desk Dresser Shelf
Bread: heatable coolable sliceable; surface Fridge GarbageCan Microwave
BreadSliced: heatable coolable; surface Fridge GarbageCan Microwave Toaster
ButterKnife: cleanable; pan surface Bowl Cup Drawer Mug Plate SinkBasin
CD: ; surface Bowl Box Cabinet Desk Drawer Dresser GarbageCan Plate Safe Shelf
Cabinet: stays openable
Candle: ; surface Bowl Box Cabinet Cart Desk Drawer Dresser Plate Shelf Toilet
Cart: stays
CellPhone: ; seat surface Bed Bowl Box Desk Drawer Dresser Plate Safe Shelf
Chair:
Cloth: cleanable; seat surface BathtubBasin Bowl Box Cabinet Cart Desk Drawer Dresser GarbageCan LaundryHamper Plate Shelf SinkBasin Toilet
CoffeeMachine: stays
CoffeeTable: stays
CounterTop: stays
CreditCard: ; seat surface Bowl Box Desk Drawer Dresser Plate Safe Shelf
Cup: heatable coolable cleanable isreceptacleobject; surface Cabinet Desk Dresser Fridge Microwave Shelf SinkBasin
Curtains:
Desk: stays
DeskLamp: toggleable
DiningTable: stays
DishSponge: cleanable; pan surface BathtubBasin Bowl Box Cabinet Cart Drawer GarbageCan Plate Shelf SinkBasin Toilet
Drawer: stays openable
Dresser: stays
Egg: heatable coolable cleanable sliceable; pan surface Bowl Fridge GarbageCan Microwave Plate SinkBasin
FloorLamp: toggleable
Footstool:
Fork: cleanable; pan surface Bowl Cup Drawer Mug Plate SinkBasin
Fridge: stays openable
GarbageCan: stays
Glassbottle: ; surface Box Cabinet Desk Dresser Fridge Microwave Plate Shelf SinkBasin
HandTowel: ; surface BathtubBasin Cabinet Cart Drawer GarbageCan HandTowelHolder Shelf SinkBasin Toilet
HandTowelHolder: stays
HousePlant:
Kettle: cleanable; surface Cabinet Shelf SinkBasin StoveBurner
KeyChain: ; seat surface Bowl Box Desk Drawer Dresser Mug Plate Safe Shelf
Knife: cleanable; pan surface Bowl Drawer Mug Plate SinkBasin
Ladle: cleanable; pan surface Bowl Cabinet Drawer Plate SinkBasin
Laptop: ; seat surface Bed Desk Dresser
LaundryHamper: stays
LaundryHamperLid:
Lettuce: coolable cleanable sliceable; pan surface Bowl Fridge GarbageCan Plate SinkBasin
LettuceSliced: coolable cleanable; pan surface Bowl Fridge GarbageCan Plate SinkBasin
LightSwitch:
Microwave: stays openable
Mirror:
Mug: heatable coolable cleanable isreceptacleobject; surface Bowl Box Cabinet Cart CoffeeMachine Desk Dresser Fridge Microwave Plate Shelf SinkBasin
Newspaper: ; seat surface Bed Cabinet Desk Drawer Dresser GarbageCan Shelf Toilet
Ottoman: stays
Painting:
PaintingHanger: stays
Pan: coolable cleanable isreceptacleobject; surface Cabinet Fridge SinkBasin StoveBurner
PaperTowel: ; surface Bowl Box Cart GarbageCan Plate Shelf Toilet
PaperTowelRoll:
Pen: ; surface Bowl Box Desk Drawer Dresser GarbageCan Mug Plate Shelf
Pencil: ; surface Bowl Box Desk Drawer Dresser GarbageCan Mug Plate Shelf
PepperShaker: ; surface Cabinet Drawer Shelf
Pillow: ; seat Bed
Plate: heatable coolable cleanable isreceptacleobject; surface Cabinet Desk Dresser Fridge Microwave Shelf SinkBasin
Plunger: ; Cabinet Cart
Poster:
Pot: coolable cleanable isreceptacleobject; surface Cabinet Fridge Shelf SinkBasin StoveBurner
Potato: heatable coolable cleanable sliceable; pan surface Bowl Fridge GarbageCan Microwave Plate SinkBasin
PotatoSliced: heatable coolable cleanable; pan surface Bowl Fridge GarbageCan Microwave Plate SinkBasin
RemoteControl: ; seat surface Bowl Box Desk Drawer Dresser Shelf
Safe: stays openable
SaltShaker: ; surface Cabinet Drawer Shelf
ScrubBrush:
Shelf: stays
ShowerDoor:
ShowerGlass:
SideTable: stays
Sink: stays
SinkBasin: stays
SoapBar: cleanable; surface BathtubBasin Cabinet Cart Drawer GarbageCan Shelf SinkBasin Toilet
SoapBottle: ; surface Cabinet Cart Desk Drawer GarbageCan Shelf Toilet
Sofa: stays
Spatula: cleanable; pan surface Bowl Drawer Plate SinkBasin
Spoon: cleanable; pan surface Bowl Cup Drawer Mug Plate SinkBasin
SprayBottle: ; surface Cabinet Cart Desk Drawer Dresser GarbageCan Shelf Toilet
Statue: ; surface Box Cart Desk Dresser Safe Shelf
StoveBurner: stays
StoveKnob:
TVStand: stays
TeddyBear:
Television:
TennisRacket: ; surface Bed Desk Dresser
TissueBox: ; surface Box Cabinet Cart Desk Drawer Dresser GarbageCan Plate Shelf TVStand Toilet
Toaster: stays
Toilet: stays
ToiletPaper: ; surface Cabinet Cart Desk Drawer Dresser GarbageCan Shelf Toilet ToiletPaperHanger
ToiletPaperHanger: stays
ToiletPaperRoll: ; surface Cabinet Cart Desk Drawer Dresser GarbageCan Shelf Toilet ToiletPaperHanger
Tomato: heatable coolable cleanable sliceable; pan surface Bowl Fridge GarbageCan Microwave Plate SinkBasin
TomatoSliced: heatable coolable cleanable; pan surface Bowl Fridge GarbageCan Microwave Plate SinkBasin
Towel: ; TowelHolder
TowelHolder: stays
Vase: ; surface Box Cabinet Cart Desk Dresser Safe Shelf
Watch: ; surface Bowl Box Desk Drawer Dresser Mug Plate Safe Shelf
WateringCan: ; surface Cabinet Desk Drawer Dresser Shelf
Window:
WineBottle: coolable; surface Cabinet Desk Dresser Fridge GarbageCan Shelf
`;

const rows = CLASSES.trim()
  .split('\n')
  .map((row) => {
    const [name = '', able = '', places = ''] = row.split(/: ?|; /);
    return {
      name,
      able: able.split(' '),
      places: places.split(' ').flatMap((place) => (GROUPS[place] ?? place).split(' ')),
    };
  });

const namesOf = (filter: (row: (typeof rows)[number]) => boolean): readonly string[] =>
  rows.filter(filter).map(({ name }) => name);
const able = (ability: string): ReadonlySet<string> => new Set(namesOf((row) => row.able.includes(ability)));

export const OBJECT_CLASSES_BY_ABILITY: { readonly [ability: string]: ReadonlySet<string> } = Object.fromEntries(
  ['cleanable', 'heatable', 'coolable', 'sliceable', 'toggleable', 'isreceptacleobject'].map((each) => [
    each,
    able(each),
  ]),
);

/** The classes that a receptacle's class may contain. */
export const RECEPTACLE_CONTENTS: { readonly [receptacle: string]: readonly string[] } = Object.fromEntries(
  rows
    .flatMap(({ places }) => places)
    .filter(Boolean)
    .map((place) => [place, namesOf((row) => row.places.includes(place))]),
);

/** The classes of receptacles that open; a single one may nevertheless be fixed open. */
export const OPENABLE_RECEPTACLES: ReadonlySet<string> = able('openable');

export const RECEPTACLE_CLASSES: readonly string[] = [...able('stays')];

export const OBJECT_CLASSES: readonly string[] = namesOf(
  ({ name }) => !name.endsWith('Sliced') && name !== 'PaintingHanger',
);
