import type { NeedMark } from './graph-picture.ts';

/** The SVG path of each mark in a square of twelve units. Strokes have the text colour. */
const SHAPES: { readonly [mark in NeedMark]: string } = {
  approval:
    '<path d="M3.5 5.5V4a2.5 2.5 0 0 1 5 0v1.5"/><rect class="full" x="2" y="5.5" width="8" height="5.5" rx="1.2"/>',
  operator:
    '<circle class="full" cx="6" cy="3.6" r="2.1"/><path class="full" d="M1.8 11c.3-2.6 1.9-4 4.2-4s3.9 1.4 4.2 4z"/>',
  condition: '<path d="M2 6.5 4.8 9.3 10.2 3"/>',
  pattern: '<path d="M6 1.2 10.8 6 6 10.8 1.2 6z"/><circle class="full" cx="6" cy="6" r="1.3"/>',
  close: '<circle cx="6" cy="6" r="4.4"/><path class="full" d="M6 1.6a4.4 4.4 0 0 1 0 8.8z"/>',
  observed:
    '<path d="M1 6c1.3-2.3 3-3.4 5-3.4S9.7 3.7 11 6c-1.3 2.3-3 3.4-5 3.4S2.3 8.3 1 6z"/><circle class="full" cx="6" cy="6" r="1.6"/>',
  agent: '<rect x="2" y="3.5" width="8" height="6.5" rx="1.5"/><path d="M6 1.2v2.3M4.5 6.2v1M7.5 6.2v1"/>',
};

export const NEED_MARK_MEANINGS: { readonly [mark in NeedMark]: string } = {
  approval: 'a person approves',
  operator: 'the operator asks',
  condition: 'a condition holds',
  pattern: 'a pattern was selected or held',
  close: 'a successful step since the last review',
  observed: 'this result was observed',
  agent: 'only these agents',
};

export const drawNeedMark = (mark: NeedMark, x: number, y: number): string =>
  `<g class="mark ${mark}" transform="translate(${x} ${y})">${SHAPES[mark]}</g>`;
