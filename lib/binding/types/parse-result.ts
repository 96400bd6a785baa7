import { ignoreRejection } from '../../basics/awaitable';

/**
 * Takes the value out of the result of an application's parser; undefined if it has refused the input.
 * @param result the parser's return value, a `ParseResult` if it keeps to its type.
 * @param parser the name for the error message, for example `Money.tryParse`.
 * @throws TypeError if the result is not a `ParseResult`: that is the application's mistake, not the client's.
 */
export function accepted(result: unknown, parser: string): unknown {
  const { success, value } = Object(result) as { success?: unknown; value?: unknown };
  if (typeof success !== 'boolean') {
    ignoreRejection(result);
    const returned = typeof result === 'object' && result !== null ? 'another object' : String(result);
    throw new TypeError(
      `${parser} must return { success: true, value } or { success: false }, and has returned ${returned}`,
    );
  }
  return success ? value : undefined;
}
