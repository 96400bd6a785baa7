const emitted = new Set<string>();

/**
 * Emits a process warning, on the first call with `code` only: for mistakes of the application that repeat with every
 * request. The code is for `process.on('warning')` and `--disable-warning=<code>`.
 * @param text states what happens, and what to do.
 */
export function warnOnce(code: `BINDONCE_${string}`, text: string): void {
  if (emitted.has(code)) return;
  emitted.add(code);
  process.emitWarning(text, { code });
}
