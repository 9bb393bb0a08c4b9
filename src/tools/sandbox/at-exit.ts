const tasks = new Set<() => void>();

/**
 * Runs a task when the process exits. The newest task runs first, so that shells end before their folder is removed.
 * Errors are ignored.
 */
export function runAtProcessExit(task: () => void): void {
  if (tasks.size === 0) process.once('exit', runAll);
  tasks.add(task);
}

function runAll(): void {
  for (const task of [...tasks].reverse()) {
    try {
      task();
    } catch {
      // An error must not stop the other tasks.
    }
  }
}
