/** The refusal of an argument: the reason, which quotes the argument, and the next step. */
export interface BadArgument {
  readonly refusal: {
    readonly code: 'invalid-action' | 'out-of-scope';
    /** The name of the refused argument. */
    readonly argument: string;
    readonly message: string;
    readonly remedy: string;
  };
}

export const refuseByScope = (argument: string, message: string, remedy: string): BadArgument => ({
  refusal: { code: 'out-of-scope', argument, message, remedy },
});

/** The refusal of an argument that the tool cannot interpret. */
export const invalidArgument = (argument: string, message: string, remedy: string): BadArgument => ({
  refusal: { code: 'invalid-action', argument, message, remedy },
});

export const isBadArgument = (value: object | null): value is BadArgument => value !== null && 'refusal' in value;
