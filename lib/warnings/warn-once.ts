import { oneInProcess } from '../basics/process';

/** Warnings of one code, at most: what is remembered of them is bounded. */
const MOST = 100;

/** @internal What the process has been warned of: the subjects of each code. */
export const warned = oneInProcess('warnings', () => new Map<string, Set<string>>());

/**
 * Emits a process warning, on the first call with `code` and `subject` only: for mistakes of the application that
 * repeat with every request. The code is for `process.on('warning')` and `--disable-warning=<code>`.
 * @param text states what happens, and what to do.
 * @param subject the declaration or file that the warning is about, if the application may have several.
 */
export function warnOnce(code: `BINDONCE_${string}`, text: string, subject = ''): void {
  const subjects = warned.get(code) ?? new Set();
  if (subjects.has(subject) || subjects.size >= MOST) return;
  warned.set(code, subjects.add(subject));
  process.emitWarning(text, { code });
}
