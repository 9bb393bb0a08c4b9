import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { formatOffset } from '../view/format-time.ts';
import type { ViewFrame } from '../view/view-state.ts';
import type { SessionStore } from './session-store.ts';

/** Kinds of ticks, the most important first. Of several ticks on one pixel, the most important one is drawn. */
const TICKS = [
  ['refused', ({ row }: ViewFrame) => row.mark === 'refused'],
  ['approval', ({ event }: ViewFrame) => event === 'approval'],
  ['hop', ({ event }: ViewFrame) => event === 'hop' || event === 'start'],
  ['mode', ({ event }: ViewFrame) => event === 'mode'],
  ['failed', ({ row }: ViewFrame) => row.mark === 'failed'],
  ['change', ({ event }: ViewFrame) => event === 'outcome'],
  ['look', () => true],
] as const;

const SPEEDS = [1, 4, 16];
const STEP_MS = 400;

/** The time bar: a tick for each entry, and a slider that moves the whole page to any of them. */
export function Timeline({ store }: { readonly store: SessionStore }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const legend = useRef<HTMLDivElement>(null);
  const speed = useSignal(0);
  const count = store.count.value;
  const at = store.at.value;
  useLayoutEffect(() => {
    const element = canvas.current!;
    const paint = () => drawTicks(element, legend.current!, store);
    const watcher = new ResizeObserver(paint);
    watcher.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', paint);
    paint();
    return () => {
      watcher.disconnect();
      dark.removeEventListener('change', paint);
    };
  }, [count, store]);
  useEffect(() => {
    if (speed.value === 0) return;
    const timer = setInterval(() => {
      if (store.cursor.value === null) speed.value = 0;
      else store.move(store.at.value + 1);
    }, STEP_MS / speed.value);
    return () => clearInterval(timer);
  }, [speed.value, store, speed]);
  const play = () => {
    if (speed.value === 0 && store.cursor.value === null) store.move(0);
    speed.value = SPEEDS[(SPEEDS.indexOf(speed.value) + 1) % (SPEEDS.length + 1)] ?? 0;
  };
  const frame = store.frames[at];
  const first = store.frames[0]?.at ?? 0;
  const words = frame
    ? `entry ${at + 1} of ${count}, ${formatOffset(frame.at - first)}: ${frame.row.action}`
    : 'no entries';
  return (
    <footer class="timeline">
      <button
        type="button"
        onClick={play}
        aria-label={speed.value === 0 ? 'Play' : `Playing at ${speed.value}×; faster`}
      >
        {speed.value === 0 ? '▶' : `${speed.value}×`}
      </button>
      <div class="track">
        <div class="bar">
          <canvas ref={canvas} />
          <input
            type="range"
            min={0}
            max={Math.max(0, count - 1)}
            value={at}
            disabled={store.partial.value}
            aria-label="Moment of the session"
            aria-valuetext={words}
            onInput={({ currentTarget }) => store.move(Number(currentTarget.value))}
          />
        </div>
        <div class="legend" ref={legend}>
          {TICKS.map(([kind]) => (
            <span key={kind} class={`tick-${kind}`}>
              ▮ {kind}
            </span>
          ))}
        </div>
      </div>
      <button
        type="button"
        class={store.cursor.value === null ? 'live on' : 'live'}
        aria-pressed={store.cursor.value === null}
        onClick={() => {
          store.cursor.value = null;
        }}
      >
        newest
      </button>
      <output>
        {store.partial.value
          ? 'loading the history'
          : frame
            ? `${at + 1}/${count} · ${formatOffset(frame.at - first)}`
            : ''}
      </output>
    </footer>
  );
}

/** Draws one tick for each pixel with entries. A taller tick is more important. */
function drawTicks(canvas: HTMLCanvasElement, legend: HTMLElement, { frames }: SessionStore): void {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext('2d');
  if (!context || frames.length === 0) return;
  context.scale(ratio, ratio);
  const colours = [...legend.children].map((kind) => getComputedStyle(kind).color);
  const wide = Math.min(4, Math.max(1, width / frames.length - 1));
  const strongest = new Map<number, number>();
  frames.forEach((frame, index) => {
    const x = Math.round(frames.length === 1 ? 0 : (index / (frames.length - 1)) * (width - wide));
    const tick = TICKS.findIndex(([, is]) => is(frame));
    strongest.set(x, Math.min(strongest.get(x) ?? TICKS.length, tick));
  });
  for (const [x, kind] of strongest) {
    const tall = height * (kind < 4 ? 1 : kind < 6 ? 0.65 : 0.35);
    context.fillStyle = colours[kind]!;
    context.fillRect(x, height - tall, wide, tall);
  }
}
