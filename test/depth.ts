/** Set by `npm run test:deep`, which tries all where `npm test` tries what is characteristic. */
export const isDeep = process.env['HOPGATE_DEEP'] === '1';

/** How much is tried: by `npm test`, and by `npm run test:deep`. */
export const depth = <T>(usual: T, deep: T): T => (isDeep ? deep : usual);
