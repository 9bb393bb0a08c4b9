import { computed, signal } from '@preact/signals';
import { applyViewDelta, EMPTY_VIEW_STATE, type EntryRow, type ViewFrame, type ViewState } from '../view/view-state.ts';

/** Number of frames between two stored states; other states are computed from them. */
const FRAMES_PER_STATE = 256;

/** The frames of one session: its rows, and its state after any frame. The first frames may be missing. */
export class SessionStore {
  #frames: ViewFrame[] = [];
  #base: ViewState = EMPTY_VIEW_STATE;
  readonly #rows = new Map<number, EntryRow>();
  /** For each row that is part of another row: its key, and the key of the other row. */
  readonly #parts = new Map<number, number>();
  #savedStates: ViewState[] = [];
  #last: { index: number; state: ViewState } = { index: -1, state: EMPTY_VIEW_STATE };
  readonly count = signal(0);
  /** True if only the newest frames are loaded, without their deltas. The shown state is then the newest one. */
  readonly partial = signal(false);
  /** Incremented whenever the first frame changes. */
  readonly #firstFrameChanges = signal(0);
  /** The index of the frame that is shown; null if the page follows the newest. */
  readonly cursor = signal<number | null>(null);
  readonly at = computed(() => Math.min(this.cursor.value ?? Number.POSITIVE_INFINITY, this.count.value - 1));
  readonly state = computed(() => this.#computed(this.at.value));
  /** The newest state, independent of the cursor. */
  readonly newest = computed(() => this.#computed(this.count.value - 1));
  readonly rows = computed<readonly EntryRow[]>(() =>
    this.count.value + this.#firstFrameChanges.value > 0 ? [...this.#rows.values()] : [],
  );

  get frames(): readonly ViewFrame[] {
    return this.#frames;
  }

  /** The `seq` of the first frame; 0 without frames. */
  get first(): number {
    return this.#frames[0]?.seq ?? 0;
  }

  get next(): number {
    return (this.#frames.at(-1)?.seq ?? -1) + 1;
  }

  /** Adds the next frames; the first ones come with the state `before` them. */
  add(frames: readonly ViewFrame[], before: ViewState = EMPTY_VIEW_STATE): void {
    if (this.#frames.length === 0) {
      this.#base = before;
      this.#last = { index: -1, state: before };
    }
    for (const frame of frames) {
      // After a reconnection the server may send a frame again.
      if (this.#frames.length > 0 && frame.seq !== this.next) continue;
      this.#frames.push(frame);
      this.#addRow(frame);
    }
    this.count.value = this.#frames.length;
  }

  /** Puts earlier frames in front. They replace the frames up to their last entry; later frames stay. */
  prepend(earlier: readonly ViewFrame[]): void {
    const end = earlier.at(-1)?.seq ?? -1;
    const frames = [...earlier, ...this.#frames.filter(({ seq }) => seq > end)];
    const moved = frames.length - this.#frames.length;
    this.partial.value = false;
    this.#frames = frames;
    this.#base = EMPTY_VIEW_STATE;
    this.#savedStates = [];
    this.#last = { index: -1, state: EMPTY_VIEW_STATE };
    this.#rows.clear();
    for (const frame of frames) this.#addRow(frame);
    this.cursor.value = this.cursor.value === null ? null : this.cursor.value + moved;
    this.#firstFrameChanges.value++;
    this.count.value = frames.length;
  }

  #addRow({ replaces = [], row }: ViewFrame): void {
    for (const key of replaces) {
      this.#rows.delete(key);
      this.#parts.set(key, row.key);
    }
    this.#rows.set(row.key, row);
  }

  #computed(index: number): ViewState {
    // A new first frame changes the meaning of every index.
    return this.#firstFrameChanges.value >= 0 ? this.stateAt(index) : EMPTY_VIEW_STATE;
  }

  stateAt(index: number): ViewState {
    if (index < 0) return this.#base;
    if (this.#last.index === index) return this.#last.state;
    const nearest = Math.min(Math.floor(index / FRAMES_PER_STATE), this.#savedStates.length) * FRAMES_PER_STATE;
    const isNext = this.#last.index < index && this.#last.index >= nearest - 1;
    let state = isNext
      ? this.#last.state
      : nearest === 0
        ? this.#base
        : this.#savedStates[nearest / FRAMES_PER_STATE - 1]!;
    for (let at = isNext ? this.#last.index + 1 : nearest; at <= index; at++) {
      state = applyViewDelta(state, this.#frames[at]!.delta);
      if ((at + 1) % FRAMES_PER_STATE === 0) this.#savedStates[(at + 1) / FRAMES_PER_STATE - 1] = state;
    }
    this.#last = { index, state };
    return state;
  }

  rowAt(index: number): EntryRow | undefined {
    const frame = this.#frames[index];
    if (!frame) return undefined;
    let { key } = frame.row;
    for (let whole = this.#parts.get(key); whole !== undefined; whole = this.#parts.get(key)) key = whole;
    return this.#rows.get(key) ?? frame.row;
  }

  /** Moves the cursor to the end of a row. */
  goTo(row: EntryRow): void {
    this.move(row.seqs.at(-1)! - this.first);
  }

  move(index: number): void {
    const newest = this.count.value - 1;
    this.cursor.value = index >= newest ? null : Math.max(0, index);
  }
}
