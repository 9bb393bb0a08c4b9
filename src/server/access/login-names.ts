/** The cookie of a login; no script can read it. */
export const LOGIN_COOKIE = 'hopgate';
/** The header with the page key of a login; a page keeps the key, and a browser never sends it by itself. */
export const PAGE_KEY_HEADER = 'x-hopgate-page';
