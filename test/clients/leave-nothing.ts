import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes whose state lies in this folder: a stopping daemon writes until it has ended. */
function processesIn(folder: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`XDG_STATE_HOME=${folder}/`);
    } catch {
      return false;
    }
  });
}

/** Removes a world's folder once nobody writes there any more. */
export async function leaveNothing(folder: string): Promise<void> {
  for (const until = Date.now() + 20_000; processesIn(folder).length > 0 && Date.now() < until; ) await sleep(50);
  rmSync(folder, { recursive: true, force: true });
}
