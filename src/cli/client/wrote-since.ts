import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** True if a client program has written to any conversation in this folder tree since that time (ISO 8601). */
export function wroteSince(folder: string, since: string): boolean {
  const from = Date.parse(since);
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).some(
      (name) => name.endsWith('.jsonl') && statSync(join(folder, name)).mtimeMs >= from,
    );
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}
