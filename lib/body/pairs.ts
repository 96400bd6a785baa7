import qs from 'qs';
import { Problem } from '../problems/problem';

/** One `name=value` of a query or a form, as it was sent: `a[0].b` is a name like any other here. */
export type Pair = readonly [name: string, value: string];

/**
 * Reads `a=1&b=2` text, pair by pair. qs decodes each; given all of them at once it would nest them in bounds that change
 * the shape of the result (more than 20 items become an object), and take quadratic time for a repeated name.
 * @param limit pairs at the most.
 * @throws a 413 problem when there are more.
 */
export function readPairs(text: string, limit: number): Pair[] {
  const parts = text.split('&', limit + 1);
  if (parts.length > limit) throw new Problem('body-too-large', `There are more than ${limit} values.`);
  return parts.filter(part => part !== '').flatMap(part => Object.entries(qs.parse(readable(part), OPTIONS) as Record<string, string>).map(([name, value]): Pair => [name.slice(1), value]));
}

/** With a letter before it, qs leaves a name alone that begins with a bracket; it also looks for the end of a name at `]=`, in the value too. */
function readable(part: string): string {
  const mark = part.indexOf('=');
  return mark < 0 ? `_${part}` : `_${part.slice(0, mark + 1)}${part.slice(mark + 1).replaceAll('=', '%3D')}`;
}

const OPTIONS = { depth: 0, parseArrays: false, plainObjects: true, allowPrototypes: true } as const;
