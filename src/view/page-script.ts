import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Reads the script of the live view, which the build writes; null in a checkout that was not built. */
export function readLiveViewScript(): string | null {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    try {
      return readFileSync(join(folder, 'dist/page/page.js'), 'utf8');
    } catch {
      // Tries the next folder up, because this code runs at different depths.
    }
  }
  return null;
}
