import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The script of the page, which the build writes; null in a checkout that was not built. */
export function pageScript(): string | null {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    try {
      return readFileSync(join(folder, 'dist/page/page.js'), 'utf8');
    } catch {
      // The package's folder may be further up.
    }
  }
  return null;
}
