const emitted = new Set<string>();

/**
 * Emits a process warning, the first time that `code` is given. For mistakes of the application that would repeat with every
 * request; `process.on('warning')` and `--disable-warning=<code>` see the code.
 * @param text what happens, and what to do.
 */
export function warnOnce(code: `BINDONCE_${string}`, text: string): void {
  if (emitted.has(code)) return;
  emitted.add(code);
  process.emitWarning(text, { code });
}
