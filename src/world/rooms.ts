import { splitWords } from '../base/text.ts';
import type { TaskType } from './house.ts';

/** A kind of room: its possible tasks, the number of its receptacles by class, and the classes of its things. */
export interface Room {
  readonly name: string;
  readonly tasks: readonly TaskType[];
  readonly receptacles: { readonly [receptacle: string]: readonly [least: number, most: number] };
  readonly things: readonly string[];
}

/** Parses numbers of receptacles, such as `Cabinet 4-14, Drawer 3-10`. */
const counts = (text: string): Room['receptacles'] =>
  Object.fromEntries(
    text.split(', ').map((each) => {
      const [name = '', least, most] = each.split(/[ -]/);
      return [name, [Number(least), Number(most)]];
    }),
  );

const ANYWHERE: readonly TaskType[] = ['pick_and_place_simple', 'pick_two_obj_and_place'];

export const ROOMS: readonly Room[] = [
  {
    name: 'kitchen',
    tasks: [
      ...ANYWHERE,
      'pick_clean_then_place_in_recep',
      'pick_heat_then_place_in_recep',
      'pick_cool_then_place_in_recep',
    ],
    receptacles: counts(
      'Cabinet 4-14, Drawer 3-10, CounterTop 1-3, DiningTable 0-1, Shelf 0-3, StoveBurner 4-4, Fridge 1-1, Microwave 1-1, SinkBasin 1-1, CoffeeMachine 1-1, Toaster 1-1, GarbageCan 1-1',
    ),
    things: splitWords(
      'Apple Bowl Bread ButterKnife Cup DishSponge Egg Fork Glassbottle Kettle Knife Ladle Lettuce Mug Pan PepperShaker Plate Pot Potato SaltShaker SoapBottle Spatula Spoon Tomato Vase WineBottle',
    ),
  },
  {
    name: 'living room',
    tasks: [...ANYWHERE, 'look_at_obj_in_light'],
    receptacles: counts(
      'ArmChair 1-3, Sofa 1-1, CoffeeTable 1-2, SideTable 1-3, Drawer 2-10, Cabinet 0-4, Shelf 0-6, Dresser 0-1, DiningTable 0-1, Ottoman 0-1, Safe 0-1, GarbageCan 1-1',
    ),
    things: splitWords(
      'Book Bowl Box Candle CellPhone CreditCard KeyChain Laptop Newspaper Pen Pencil Pillow Plate RemoteControl Statue TissueBox Vase Watch WateringCan',
    ),
  },
  {
    name: 'bedroom',
    tasks: [...ANYWHERE, 'look_at_obj_in_light'],
    receptacles: counts(
      'Bed 1-1, Desk 1-2, Drawer 2-12, Shelf 0-6, SideTable 1-2, Dresser 0-1, ArmChair 0-1, Safe 0-1, LaundryHamper 0-1, GarbageCan 1-1',
    ),
    things: splitWords(
      'AlarmClock BaseballBat BasketBall Book Bowl Box CD CellPhone Cloth CreditCard KeyChain Laptop Mug Pen Pencil Pillow Statue TennisRacket Vase Watch',
    ),
  },
  {
    name: 'bathroom',
    tasks: [...ANYWHERE, 'pick_clean_then_place_in_recep'],
    receptacles: counts(
      'Cabinet 2-6, Drawer 0-4, CounterTop 1-1, SinkBasin 1-2, BathtubBasin 0-1, Toilet 1-1, Shelf 0-2, TowelHolder 0-1, HandTowelHolder 1-2, ToiletPaperHanger 1-1, Cart 0-1, GarbageCan 1-1',
    ),
    things: splitWords(
      'Candle Cloth DishSponge HandTowel PaperTowel Plunger SoapBar SoapBottle SprayBottle TissueBox ToiletPaper Towel Vase',
    ),
  },
];
