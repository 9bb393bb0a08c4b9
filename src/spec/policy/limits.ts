/** Longest path of a call, in UTF-8 bytes (Linux PATH_MAX). */
export const MAX_PATH_BYTES = 4096;

/** Longest list of files that a fruit carries. */
export const MAX_FRUIT_FILES = 1000;
