/** The command line cannot be carried out as it is written. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
