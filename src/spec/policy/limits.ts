/** Longest path of a call, in UTF-8 bytes (Linux PATH_MAX). */
export const MAX_PATH_BYTES = 4096;

/** Longest list of files that a fruit carries. */
export const MAX_FRUIT_FILES = 1000;

/** Masks of one hopgate.yaml, and the length of one in characters. */
export const MAX_MASKS = 500;
export const MAX_MASK_LENGTH = 256;
