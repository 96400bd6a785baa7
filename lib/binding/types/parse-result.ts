import type { Location } from '../reading/location';

/**
 * The value that a parser of the application's own has read, or the failure that it has found.
 * @param result what it has returned: a `ParseResult`, if it keeps to its type.
 * @param parser what is named when it does not, for example `Money.tryParse`.
 * @throws TypeError then: the mistake is the application's, not the client's.
 */
export function accepted(result: unknown, input: unknown, name: string, location: Location, parser: string): unknown {
  const { success, value } = Object(result) as { success?: unknown; value?: unknown };
  if (typeof success !== 'boolean')
    throw new TypeError(
      `${parser} must return { success: true, value } or { success: false }, and has returned ${typeof result === 'object' && result !== null ? 'another object' : String(result)}`,
    );
  return success ? value : location.failValue(input, name);
}
