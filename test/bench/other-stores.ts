import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { assign, createActor, setup } from 'xstate';
import { type Database, loadNodeSqlite } from '../../src/stores/sqlite/node-sqlite.ts';
import { type Pace, paceOf } from './pace.ts';
import { inFolder } from './raw-sqlite.ts';

/** The call and the result of one step, as `gatedStepsPerSecond` has them. */
const call = { tool: 'read', args: { path: 'src/gate/decide.ts' } };
const result = { path: 'src/gate/decide.ts', text: 'x'.repeat(200) };

/** A database as durable as the evidence store: WAL, synchronous FULL. */
function durable(file: string): Database {
  const db = new (loadNodeSqlite().DatabaseSync)(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  return db;
}

/** The part of better-sqlite3 that LangGraph's saver calls, on node:sqlite: all three use the same SQLite. */
function asBetterSqlite(db: Database): ConstructorParameters<typeof SqliteSaver>[0] {
  const transaction =
    <A extends unknown[]>(work: (...args: A) => unknown) =>
    (...args: A) => {
      db.exec('BEGIN IMMEDIATE');
      const value = work(...args);
      db.exec('COMMIT');
      return value;
    };
  const like = {
    pragma: (text: string) => db.exec(`PRAGMA ${text}`),
    exec: (sql: string) => db.exec(sql),
    // node:sqlite binds no undefined.
    prepare(sql: string) {
      const statement = db.prepare(sql);
      const bound = (values: readonly (string | null | undefined)[]) => values.map((value) => value ?? null);
      return {
        run: (...values: (string | undefined)[]) => statement.run(...bound(values)),
        get: (...values: (string | undefined)[]) => statement.get(...bound(values)),
        all: (...values: (string | undefined)[]) => statement.all(...bound(values)),
      };
    },
    transaction,
  };
  return like as unknown as ConstructorParameters<typeof SqliteSaver>[0];
}

/**
 * Durable steps of a LangGraph graph: one node that calls a tool, and its SQLite checkpointer, which commits before
 * the next step begins. `sessions` threads run side by side.
 */
export function langGraphSteps({ steps = 1000, sessions = 1 } = {}): Promise<Pace> {
  return inFolder(async (file) => {
    const db = durable(file);
    const each = Math.ceil(steps / sessions);
    const State = Annotation.Root({ count: Annotation<number>, call: Annotation<object>, result: Annotation<object> });
    const graph = new StateGraph(State)
      .addNode('act', ({ count }) => ({ count: count + 1, call, result }))
      .addEdge(START, 'act')
      .addConditionalEdges('act', ({ count }) => (count < each ? 'act' : END))
      .compile({ checkpointer: new SqliteSaver(asBetterSqlite(db)) });
    const thread = (id: number) =>
      graph.invoke(
        { count: 0 },
        { configurable: { thread_id: `${id}` }, recursionLimit: each + 5, durability: 'sync' },
      );
    const pace = await paceOf(each * sessions, () =>
      Promise.all(Array.from({ length: sessions }, (_, id) => thread(id))),
    );
    db.close();
    return pace;
  });
}

/**
 * Durable steps of xstate actors whose persisted snapshot replaces the last one after each event. The steps of all
 * `sessions` actors share a transaction.
 */
export function xstateSteps({ steps = 1000, sessions = 1 } = {}): Promise<Pace> {
  return inFolder(async (file) => {
    const db = durable(file);
    db.exec('CREATE TABLE snapshots (id INTEGER PRIMARY KEY, snapshot TEXT)');
    const put = db.prepare('INSERT OR REPLACE INTO snapshots VALUES (?, ?)');
    const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
    const machine = setup({
      types: {
        context: {} as { count: number; last: object | null },
        events: {} as { type: 'step'; call: object; result: object },
      },
    }).createMachine({
      context: { count: 0, last: null },
      initial: 'active',
      states: {
        active: {
          on: {
            step: { actions: assign({ count: ({ context }) => context.count + 1, last: ({ event }) => event }) },
          },
        },
      },
    });
    const actors = Array.from({ length: sessions }, () => createActor(machine).start());
    const each = Math.ceil(steps / sessions);
    const pace = await paceOf(each * sessions, () => {
      for (let step = 0; step < each; step++) {
        begin.run();
        for (const [id, actor] of actors.entries()) {
          actor.send({ type: 'step', call, result });
          put.run(id, JSON.stringify(actor.getPersistedSnapshot()));
        }
        commit.run();
      }
    });
    db.close();
    return pace;
  });
}
