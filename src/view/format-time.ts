/** Prints the time since the first entry: `+5.120s`, `+1:05`, `+2:01:05`; `?` if it is unknown. */
export function formatOffset(ms: number): string {
  if (!Number.isFinite(ms)) return '?';
  const total = Math.abs(ms);
  const sign = ms < 0 ? '-' : '+';
  if (total < 60_000) return `${sign}${(total / 1000).toFixed(3)}s`;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const seconds = total / 1000;
  const rest = `${two(seconds % 60)}`;
  if (seconds < 3600) return `${sign}${Math.floor(seconds / 60)}:${rest}`;
  return `${sign}${Math.floor(seconds / 3600)}:${two((seconds / 60) % 60)}:${rest}`;
}

/** Prints a duration: `2.3s`, `1:05`. */
export const formatDuration = (ms: number): string =>
  Math.abs(ms) < 60_000 ? `${(ms / 1000).toFixed(1)}s` : formatOffset(ms).replace(/^\+/, '');
