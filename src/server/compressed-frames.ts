import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import type { SessionFrames } from '../view/session-frames.ts';
import { applyViewDelta, type ViewFrame, type ViewState } from '../view/view-state.ts';
import { readInTurns } from './read-in-turns.ts';

const PIECE_FRAMES = 500;

/** Frames from a position on, and the state before the first of them. */
interface FramePage {
  readonly before: ViewState;
  readonly frames: readonly ViewFrame[];
}

/** The newest part of a long session, which is read before the earlier frames. */
export interface NewestFrames {
  /** Makes the frames of the entries after `end`. */
  readonly view: SessionFrames;
  /** The state before the frames of `view`. */
  readonly before: ViewState;
  readonly end: number;
  /** The rows just before `end`, for display only: their deltas are empty, so no state can be computed from them. */
  readonly past: readonly ViewFrame[];
}

/**
 * The frames of one session. Of a long session, only the tail is made at first, and new entries are added to it. The
 * earlier frames are made when a page requests them, and stored in compressed pieces.
 */
export class CompressedViewFrames {
  readonly #store: EvidenceStore;
  readonly #sessionId: string;
  readonly #whole: SessionFrames;
  readonly #pieces: { readonly before: ViewState; readonly packed: Buffer }[] = [];
  #before: ViewState;
  #open: ViewFrame[] = [];
  #tail: (NewestFrames & { readonly live: ViewFrame[] }) | null;
  #turn: Promise<void> = Promise.resolve();

  constructor(store: EvidenceStore, sessionId: string, whole: SessionFrames, tail: NewestFrames | null) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#whole = whole;
    this.#before = whole.state;
    this.#tail = tail && { ...tail, live: [] };
  }

  get seq(): number {
    return (this.#tail?.view ?? this.#whole).seq;
  }

  get state(): ViewState {
    return (this.#tail?.view ?? this.#whole).state;
  }

  /** Adds the frames of the entries that were stored since the last call. */
  async catchUp(): Promise<void> {
    const tail = this.#tail;
    if (tail === null) return this.#inTurn(() => this.#makeUntil(Number.POSITIVE_INFINITY));
    for await (const stored of this.#store.entries(this.#sessionId, { from: tail.view.seq + 1 })) {
      // A concurrent call may have read the same entry.
      if (stored.entry.seq === tail.view.seq + 1) tail.live.push(tail.view.add(stored));
    }
  }

  /** The rows of the tail, for display only: their deltas are empty. `before` is the present state. */
  newest(limit: number): FramePage & { readonly past: boolean } {
    const tail = this.#tail;
    if (tail === null) return { ...this.#pageOfWhole(Math.max(0, this.seq - limit + 1), limit), past: false };
    const live = tail.live.map((frame) => ({ ...frame, delta: {} }));
    return { before: this.state, frames: [...tail.past, ...live].slice(-limit), past: true };
  }

  /** Frames from `from` on. Makes earlier frames that are missing; other requests are answered in the meantime. */
  async page(from: number, limit: number): Promise<FramePage> {
    if (this.#tail !== null && from > this.#tail.end) {
      const { before, end, live } = this.#tail;
      const at = from - end - 1;
      const state = live.slice(0, at).reduce((state, { delta }) => applyViewDelta(state, delta), before);
      return { before: state, frames: live.slice(at, at + limit) };
    }
    await this.#inTurn(() => this.#makeUntil(from + limit - 1));
    return this.#pageOfWhole(from, limit);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #makeUntil(seq: number): Promise<void> {
    const last = () => (this.#tail !== null && seq < this.#tail.end ? seq : Number.POSITIVE_INFINITY);
    if (this.#whole.seq >= last()) return;
    for await (const stored of readInTurns(this.#store.entries(this.#sessionId, { from: this.#whole.seq + 1 }))) {
      this.#open.push(this.#whole.add(stored));
      if (this.#open.length === PIECE_FRAMES) {
        this.#pieces.push({ before: this.#before, packed: deflateRawSync(JSON.stringify(this.#open), { level: 1 }) });
        [this.#before, this.#open] = [this.#whole.state, []];
      }
      if (this.#whole.seq >= last()) return;
    }
    // All frames are made now, so the tail is not needed any more.
    this.#tail = null;
  }

  #pageOfWhole(from: number, limit: number): FramePage {
    let at = Math.min(Math.floor(from / PIECE_FRAMES), this.#pieces.length);
    let before = this.#pieces[at]?.before ?? this.#before;
    const frames: ViewFrame[] = [];
    for (; at <= this.#pieces.length && frames.length < limit; at++) {
      for (const frame of this.#unpacked(at)) {
        if (frame.seq < from) before = applyViewDelta(before, frame.delta);
        else if (frames.length < limit) frames.push(frame);
      }
    }
    return { before, frames };
  }

  #unpacked(at: number): readonly ViewFrame[] {
    const piece = this.#pieces[at];
    return piece ? (JSON.parse(inflateRawSync(piece.packed).toString()) as readonly ViewFrame[]) : this.#open;
  }
}
