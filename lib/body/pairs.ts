import qs from 'qs';
import { Problem } from '../problems/problem';

/** One `name=value` of a query or a form, as it was sent: `a[0].b` is a name like any other here. */
export type Pair = readonly [name: string, value: string];

/**
 * Reads `a=1&b=2` text. qs splits and decodes; its own nesting is turned off, since it is bounded in ways that change the
 * shape of the result (more than 20 items become an object).
 * @param limit pairs at the most.
 */
export function readPairs(text: string, limit: number): Pair[] {
  let parsed: Record<string, unknown>;
  try {
    parsed = qs.parse(text, {
      depth: 0, parseArrays: false, arrayLimit: limit, parameterLimit: limit, throwOnLimitExceeded: true,
      plainObjects: true, allowPrototypes: true,
    });
  } catch (error) {
    if (error instanceof RangeError) throw new Problem('body-too-large', `There are more than ${limit} values.`, { cause: error });
    throw error;
  }
  return Object.entries(parsed).flatMap(([name, value]) => [value].flat().map((one): Pair => [name, String(one)]));
}
