/** A layout cannot be built: `message` says what is wrong with the repository or its configuration and what to do. */
export class LayoutError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LayoutError';
  }
}
