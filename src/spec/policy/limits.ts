/** Longest path of a call, in UTF-8 bytes (Linux PATH_MAX). */
export const MAX_PATH_BYTES = 4096;

/**
 * The beginning of an address, `https://` or `file:`. No path may begin so, because many libraries would open it as a
 * URL.
 */
export const URL_START_PATTERN = /^(?:[a-z][a-z\d+.-]*:\/\/|file:)/i;

/** Longest list of files that a fruit carries. */
export const MAX_FRUIT_FILES = 1000;

/** The maximum number of masks in a hopgate.yaml, and the maximum length of a mask in characters. */
export const MAX_MASKS = 500;
export const MAX_MASK_LENGTH = 256;

export const MAX_BRANCH_PATTERNS = 50;

/** Largest file that people write: hopgate.yaml, a spec, a scenario. */
export const MAX_AUTHORED_FILE_BYTES = 1 << 20;

/** Largest file that programs write and hopgate reads: a manifest, the settings of a client, git's configuration. */
export const MAX_SETTINGS_BYTES = 16 << 20;

export const MAX_SPEC_FILES = 10_000;

/** The maximum depth of lists and mappings in a file that people write. */
export const MAX_YAML_NESTING = 200;

/** The maximum number of names, values and operators in a CEL rule. The parser would overflow its stack much later. */
export const MAX_CEL_RULE_NODES = 1_000;

/** The maximum number of files that a session records for the scope `read: session-log`. */
export const MAX_FILES_IN_SESSION_LOG = 5000;

/**
 * Limits of one command's proxy: open connections, bytes in both directions, hosts that its result names, and refused
 * connections to one host, after which the command is ended. npm may retry thousands of times.
 */
export const PROXY_LIMITS = { connections: 512, bytes: 16 * 2 ** 30, hosts: 100, refusals: 1000 } as const;
