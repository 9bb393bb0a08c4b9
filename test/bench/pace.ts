/** The pace of repeated work. */
export interface Pace {
  readonly perSecond: number;
  /** User and system time of the process for one, in microseconds: unlike the rate it depends little on other load. */
  readonly cpu: number;
}

/** Measures work that does a thing `count` times. */
export async function paceOf(count: number, work: () => unknown): Promise<Pace> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: count / seconds, cpu: (user + system) / count };
}
