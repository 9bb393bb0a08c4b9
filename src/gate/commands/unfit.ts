/** The reason why an argument cannot be granted, in words that name its value, and the next step. */
export interface Unfit {
  readonly unfit: {
    readonly code: 'invalid-action' | 'out-of-scope';
    /** The parameter at fault. */
    readonly argument: string;
    readonly message: string;
    readonly remedy: string;
  };
}

export const beyondScope = (argument: string, message: string, remedy: string): Unfit => ({
  unfit: { code: 'out-of-scope', argument, message, remedy },
});

/** The argument has no meaning for the tool. */
export const invalidArgument = (argument: string, message: string, remedy: string): Unfit => ({
  unfit: { code: 'invalid-action', argument, message, remedy },
});

export const isUnfit = (value: object | null): value is Unfit => value !== null && 'unfit' in value;
