/** Set by `npm run test:deep`, which tries all cases; `npm test` tries some characteristic ones. */
export const isDeep = process.env['HOPGATE_DEEP'] === '1';

/** The number of tries in `npm test`, and in `npm run test:deep`. */
export const depth = <T>(usual: T, deep: T): T => (isDeep ? deep : usual);

/** One of every `step` cases for `npm test`, all of them for `npm run test:deep`. */
export const sample = <T>(cases: readonly T[], step: number): readonly T[] =>
  depth(
    cases.filter((_, at) => at % step === 0),
    cases,
  );
