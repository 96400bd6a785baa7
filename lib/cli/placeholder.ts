import { existsSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeOrCheck } from './output-file';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Writes a file that stands in for the one that the command is about to make. It is removed when the process ends, also
 * if a loaded module or a signal ends it, so that a command that fails leaves nothing behind.
 * @returns a function that keeps what is at the path by then.
 */
export function writePlaceholder(path: string, text: string): () => void {
  const folders = missingFolders(path);
  writeOrCheck(path, text);
  const remove = (): void => removeAll(path, folders);
  const removeAndDie = (signal: NodeJS.Signals): void => {
    remove();
    // The listener is gone, so the signal does what it does without one.
    process.kill(process.pid, signal);
  };
  process.once('exit', remove);
  for (const signal of SIGNALS) process.once(signal, removeAndDie);
  return () => {
    process.off('exit', remove);
    for (const signal of SIGNALS) process.off(signal, removeAndDie);
  };
}

/** Finds the folders of a path that do not exist, the deepest first. */
function missingFolders(path: string): string[] {
  const folder = dirname(path);
  return existsSync(folder) ? [] : [folder, ...missingFolders(folder)];
}

/** Removes a file, and those of the folders that are empty. */
function removeAll(path: string, folders: readonly string[]): void {
  rmSync(path, { force: true });
  try {
    for (const folder of folders) rmdirSync(folder);
  } catch {
    // A loaded module has written something else there.
  }
}
