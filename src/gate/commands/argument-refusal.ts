/** The refusal of an argument: the reason, which quotes the argument, and the next step. */
export interface ArgumentRefusal {
  readonly refusal: {
    readonly code: 'invalid-action' | 'out-of-scope';
    /** The name of the refused argument. */
    readonly argument: string;
    readonly message: string;
    readonly remedy: string;
  };
}

export const refuseArgumentByScope = (argument: string, message: string, remedy: string): ArgumentRefusal => ({
  refusal: { code: 'out-of-scope', argument, message, remedy },
});

/** The refusal of an argument that the tool cannot interpret. */
export const refuseArgument = (argument: string, message: string, remedy: string): ArgumentRefusal => ({
  refusal: { code: 'invalid-action', argument, message, remedy },
});

export const isArgumentRefusal = (value: object | null): value is ArgumentRefusal =>
  value !== null && 'refusal' in value;
