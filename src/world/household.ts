import { createHash } from 'node:crypto';
import { memoise } from '../base/lazy.ts';
import type { WorldTurn } from '../ports/world-environment.ts';
import { HOUSE_AGENT_NAME, type House, playerNamesOfObjects } from './house.ts';
import {
  HOUSE_ACTIONS,
  HOUSEHOLD_HELP_TEXT,
  type HouseAction,
  NOTHING_HAPPENS_TEXT,
  OLD_WORDING_HOUSE_ACTIONS,
} from './house-actions.ts';
import { type PddlExpression, parsePddlExpressions } from './pddl/pddl-expression.ts';
import { isFormulaTrue, type PddlFactSet, solveFormula, type VariableBindings } from './pddl-formula.ts';
import { type HouseFact, HouseFacts } from './world-facts.ts';

/** Maximum number of commands in one game; the game then ends without a win. */
const MAX_GAME_STEPS = 100;

/** The answer of a household to a command. It is done after a win, and at the last step. */
export interface Turn extends Pick<WorldTurn, 'observation' | 'steps' | 'won' | 'done'> {
  /** The commands that can be played now, in alphabetical order. */
  readonly admissible: readonly string[];
}

/** A game at one moment, as JSON. `house` is its id. */
export interface HouseholdSnapshot {
  readonly house: string;
  readonly fluents: readonly HouseFact[];
  readonly steps: number;
  readonly won: boolean;
  readonly observation: string;
}

interface ReadyCommand {
  readonly action: HouseAction;
  readonly bindings: VariableBindings;
}
/** The commands that can be played now, computed at the first call. Each change of the facts makes a new function. */
type ReadyCommands = () => ReadonlyMap<string, ReadyCommand>;

/**
 * A game in a house: ALFWorld's text world without Python. The same commands give the same answers.
 *
 * @example
 * const game = new Household(generateHouse({ seed: 1 }));
 * game.turn().observation; // "-= Welcome to TextWorld, ALFRED! =- …"
 * game.step('go to fridge 1').observation; // "You arrive at fridge 1. The fridge 1 is closed."
 */
export class Household {
  readonly house: House;
  readonly #mostSteps: number;
  readonly #names: ReadonlyMap<string, string>;
  readonly #statics: HouseFacts;
  readonly #named: ReadonlyMap<string, readonly string[]>;
  readonly #goal: PddlExpression;
  readonly #actions: readonly HouseAction[];
  readonly #commandsAt = new WeakMap<HouseholdSnapshot, ReadyCommands>();
  #fluents!: HouseFacts;
  #readyCommands!: ReadyCommands;
  #turn!: Turn;

  constructor(house: House, options: { readonly mostSteps?: number } = {}) {
    this.house = house;
    this.#mostSteps = options.mostSteps ?? MAX_GAME_STEPS;
    const things = [...house.statics, ...house.fluents].flatMap(([, ...names]) => names as string[]);
    this.#names = playerNamesOfObjects(things);
    this.#statics = new HouseFacts(house.statics);
    this.#named = new Map(Object.entries(house.named));
    this.#goal = parsePddlExpressions(house.formula)[0] ?? ['or'];
    this.#actions = house.wording === 'old' ? OLD_WORDING_HOUSE_ACTIONS : HOUSE_ACTIONS;
    this.reset();
  }

  reset(): Turn {
    this.#fluents = new HouseFacts(this.house.fluents);
    this.#readyCommands = this.#commands();
    const observation = `-= Welcome to TextWorld, ALFRED! =-\n\n${this.#look()}\n\nYour task is to: ${this.house.task.goal}.`;
    return this.#end(observation, 0, false);
  }

  turn(): Turn {
    return this.#turn;
  }

  /**
   * Plays an admissible command. Any other command is refused, and counts as a step. A finished game does not change.
   */
  step(command: string): Turn {
    if (this.#turn.done) return this.#turn;
    const ready = this.#readyCommands().get(command.trim());
    if (ready) {
      for (const effect of ready.action.effect) this.#apply(effect, ready.bindings);
      this.#readyCommands = this.#commands();
    }
    return this.#end(ready ? this.#answer(ready) : NOTHING_HAPPENS_TEXT, this.#turn.steps + 1, this.#isWon());
  }

  /** The name of the object in the agent's hands; null if they are empty. */
  carried(): string | null {
    const [carried] = this.#fluents.after('holds', HOUSE_AGENT_NAME);
    return carried === undefined ? null : this.#name(carried);
  }

  /**
   * Sha256 (hex) of the house and its present facts. The number of steps is not part of it, so a refused command does
   * not change the hash.
   */
  identity(): string {
    return createHash('sha256')
      .update(JSON.stringify([this.house.id, this.#fluents.list()]))
      .digest('hex');
  }

  snapshot(): HouseholdSnapshot {
    const { steps, won, observation } = this.#turn;
    const snapshot = { house: this.house.id, fluents: this.#fluents.list(), steps, won, observation };
    this.#commandsAt.set(snapshot, this.#readyCommands);
    return snapshot;
  }

  /** Returns to a snapshot of a game in the same house. @throws RangeError for a snapshot of another house */
  restore(snapshot: HouseholdSnapshot): Turn {
    if (snapshot.house !== this.house.id)
      throw new RangeError(`the snapshot is of house ${snapshot.house}, not of ${this.house.id}`);
    this.#fluents = new HouseFacts(snapshot.fluents);
    this.#readyCommands = this.#commandsAt.get(snapshot) ?? this.#commands();
    return this.#end(snapshot.observation, snapshot.steps, snapshot.won);
  }

  #end(observation: string, steps: number, won: boolean): Turn {
    const ready = this.#readyCommands;
    const admissible = memoise(() => [...ready().keys()].sort());
    this.#turn = {
      observation,
      get admissible() {
        return admissible();
      },
      steps,
      won,
      done: won || steps >= this.#mostSteps,
    };
    return this.#turn;
  }

  #situation(): PddlFactSet {
    return { facts: [this.#fluents, this.#statics], named: this.#named };
  }

  #isWon(): boolean {
    return isFormulaTrue(this.#goal, this.#situation());
  }

  #commands(): ReadyCommands {
    const at = this.#situation();
    return memoise(() => {
      const ready = new Map<string, ReadyCommand>();
      for (const action of this.#actions)
        for (const bindings of solveFormula(action.when, at, { '?a': HOUSE_AGENT_NAME })) {
          const command = this.#fill(action.command, bindings);
          if (!ready.has(command)) ready.set(command, { action, bindings });
        }
      return ready;
    });
  }

  #apply(effect: PddlExpression, bindings: VariableBindings): void {
    const [head, ...rest] = effect as readonly PddlExpression[];
    const isChange = head === 'not' || head === 'toggle';
    const [predicate, ...names] = (isChange ? rest[0] : effect) as readonly string[];
    const [first, second] = names.map((name) => bindings[name] ?? name);
    const removes = head === 'not' || (head === 'toggle' && this.#fluents.has(predicate!, first, second));
    if (removes) this.#fluents.remove(predicate!, first, second);
    else this.#fluents.add(predicate!, first, second);
  }

  #name(id: string): string {
    return this.#names.get(id) ?? id;
  }

  /** The names that the player sees, in the order of the ids; the order of their numbers differs. */
  #listed(ids: Iterable<string>): readonly string[] {
    return [...ids].sort().map((id) => this.#name(id));
  }

  #fill(text: string, bindings: VariableBindings): string {
    return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => this.#name(bindings[`?${name}`] ?? name));
  }

  #answer({ action, bindings }: ReadyCommand): string {
    switch (action.answer) {
      case '{look}':
        return this.#look();
      case '{inventory}': {
        const held = this.#listed(this.#fluents.after('holds', HOUSE_AGENT_NAME));
        return held.length ? `You are carrying: ${listNames(held, 'a ')}.` : 'You are not carrying anything.';
      }
      case '{help}':
        return HOUSEHOLD_HELP_TEXT;
    }
    const text = action.answer.replace(/\{(r|o):state\}/, (_, name: string) => {
      const id = bindings[`?${name}`]!;
      return name === 'r' ? this.#receptacle(id) : this.#object(id);
    });
    return this.#fill(text, bindings);
  }

  #look(): string {
    const [here = ''] = this.#fluents.after('atlocation', HOUSE_AGENT_NAME);
    const near = this.#listed(this.#statics.before('receptacleatlocation', here));
    if (near.length) return `You are facing the ${listNames(near)}. Next to it, you see nothing.`;
    const all = this.#listed([...this.#statics.pairs('receptacleatlocation')].map(([receptacle]) => receptacle));
    return `You are in the middle of a room. Looking quickly around you, you see ${listNames(all, 'a ')}.`;
  }

  #receptacle(id: string): string {
    const name = this.#name(id);
    const openable = this.#statics.has('openable', id);
    if (openable && !this.#fluents.has('opened', id)) return `The ${name} is closed.`;
    const inside = listNames(this.#listed(this.#fluents.before('inreceptacle', id)), 'a ');
    return openable ? `The ${name} is open. In it, you see ${inside}.` : `On the ${name}, you see ${inside}.`;
  }

  #object(id: string): string {
    const name = this.#name(id);
    const is = (predicate: string) => this.#fluents.has(predicate, id) || this.#statics.has(predicate, id);
    if (is('isreceptacleobject')) {
      const inside = listNames(this.#listed(this.#statics.before('inreceptacleobject', id)), 'a ');
      return `This is a normal ${name}. In it, you see ${inside}.`;
    }
    const [clean, hot, cool, sliced] = [is('isclean'), is('ishot'), is('iscool'), is('issliced')];
    const warmth = hot ? 'hot' : cool ? 'cool' : null;
    if (sliced && (clean || warmth)) {
      const words = [warmth, clean ? 'clean' : null].filter((word) => word !== null);
      return `This is a ${words.join(' and ')} sliced ${name}.`;
    }
    if (clean && warmth) return `This is a ${warmth} and clean ${name}.`;
    // As in ALFWorld, only this answer says "cold" instead of "cool".
    if (hot || clean || cool) return `This is a ${hot ? 'hot' : clean ? 'clean' : 'cold'} ${name}.`;
    if (is('toggleable')) return `This ${name} is ${is('istoggled') ? 'on' : 'off'}.`;
    if (is('sliceable') && sliced) return `This is a sliced ${name}.`;
    return `There's nothing special about ${name}.`;
  }
}

/** A list as the engine writes it: `nothing`, `a p 1`, `a p 2, and a p 1`, `a p 1, a q 1, and a r 1`. */
function listNames(names: readonly string[], article = ''): string {
  if (names.length === 0) return 'nothing';
  const words = names.map((name) => article + name);
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(', ')}, and ${words.at(-1)}`;
}
