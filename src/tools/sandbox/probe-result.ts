export interface ProbeResult {
  /** Name of the layout: `explore`, `edit`, `test`, `deploy`, `deploy-hosts`, `deploy-online`, `git-commit`, … */
  readonly layout: string;
  readonly name: string;
  readonly stopped: boolean;
  /** The error that stopped the attempt, or the reason why it could not be made (which does not count as stopped). */
  readonly detail: string;
}
