/** Thrown if a layout cannot be built. `message` names the fault in the repository and the remedy. */
export class LayoutError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LayoutError';
  }
}
