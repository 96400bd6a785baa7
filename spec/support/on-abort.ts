/** Calls `tell` when a signal aborts: at once if it has, since a process that stood still may have missed the event. */
export function onAbort(signal: AbortSignal, tell: () => void): void {
  if (signal.aborted) tell();
  else signal.addEventListener('abort', tell);
}
