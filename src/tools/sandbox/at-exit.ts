const tasks = new Set<() => void>();

/** Has something done when the process exits, with a single listener however many there are. What it throws is lost. */
export function atExit(task: () => void): void {
  if (tasks.size === 0) process.once('exit', runAll);
  tasks.add(task);
}

function runAll(): void {
  for (const task of tasks) {
    try {
      task();
    } catch {
      // the others still have theirs to do
    }
  }
}
