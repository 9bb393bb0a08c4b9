/** Makes ids that are unique across sessions and processes. */
export interface IdGenerator {
  next(kind: 'session' | 'entry' | 'approval' | 'grant' | 'writer'): string;
}
