/** Fields of a backpack that identify the session: no caller can set them. */
export const SESSION_IDENTITY_FIELDS: readonly string[] = ['session-id', 'author'];

export const RESERVED_STATE_FIELDS: readonly string[] = [...SESSION_IDENTITY_FIELDS, 'changed-files', 'commit-message'];
