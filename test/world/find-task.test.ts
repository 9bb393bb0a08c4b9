import { describe, expect, it } from 'vitest';
import { householdWorld } from '../../src/world/home-world.ts';

describe('the search for a house with the requested task', () => {
  it.each([
    ['put an apple in the fridge', 'seed:1,task:pick_and_place_simple,object:Apple,receptacle:Fridge'],
    [
      'Can you try to solve the "put apple in fridge" task in ALFWorld?',
      'seed:1,task:pick_and_place_simple,object:Apple,receptacle:Fridge',
    ],
    [
      'put a clean mug in the coffee machine',
      'seed:1,task:pick_clean_then_place_in_recep,object:Mug,receptacle:CoffeeMachine',
    ],
    [
      'heat some egg and put it on the table',
      'seed:1,task:pick_heat_then_place_in_recep,object:Egg,receptacle:DiningTable',
    ],
    ['look at the book under the lamp', 'seed:1,task:look_at_obj_in_light,object:Book,lamp:DeskLamp'],
    ['examine the credit card with the desk lamp', 'seed:1,task:look_at_obj_in_light,object:CreditCard,lamp:DeskLamp'],
    ['put two pillows on the sofa', 'seed:1,task:pick_two_obj_and_place,object:Pillow,receptacle:Sofa'],
    ['put the soap bar in the sink', 'seed:1,task:pick_and_place_simple,object:SoapBar,receptacle:SinkBasin'],
    ['put something on a shelf', 'seed:1,task:pick_and_place_simple,receptacle:Shelf'],
  ])('finds a house for "%s"', (words, id) => expect(householdWorld.gameFor(words, 1)).toBe(id));

  it.each([
    'put an elephant in the fridge',
    'put a sofa in the fridge',
    'put an apple on the sofa',
    'tell me a joke',
    '',
  ])('finds no house for "%s"', (words) => expect(householdWorld.gameFor(words, 1)).toBeNull());
});
