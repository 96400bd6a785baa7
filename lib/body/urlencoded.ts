import qs from 'qs';
import { Problem } from '../problems/problem';

/**
 * One `name=value` of a query or a form, as it was sent: `a[0].b` is a name like any other here. The percent-encoding of an
 * unreadable one is invalid: its name is as readable as can be, and its value is not what was meant.
 */
export type Pair = readonly [name: string, value: string, ...fault: readonly 'unreadable'[]];

/**
 * Reads `a=1&b=2` text, pair by pair. qs decodes each; given all of them at once it would nest them in bounds that change
 * the shape of the result (more than 20 items become an object), and take quadratic time for a repeated name.
 * @param limit pairs at the most.
 * @throws a 413 problem when there are more.
 */
export function readPairs(text: string, limit: number): Pair[] {
  const parts = text.split('&', limit + 1);
  if (parts.length > limit) throw new Problem('body-too-large', `There are more than ${limit} values.`);
  return parts.filter(part => part !== '').flatMap(part => (isDecodable(part) ? decoded(part) : [unreadable(part)]));
}

function decoded(part: string): Pair[] {
  return Object.entries(qs.parse(readable(part), OPTIONS) as Record<string, string>).map(([name, value]): Pair => [
    name.slice(1),
    value,
  ]);
}

/** False for `%`, `%zz` and bytes that are not UTF-8. qs would leave those as they are, like the text that `%25` stands for. */
function isDecodable(part: string): boolean {
  if (!part.includes('%')) return true;
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

function unreadable(part: string): Pair {
  const mark = part.indexOf('=');
  return [
    leniently(mark < 0 ? part : part.slice(0, mark)),
    mark < 0 ? '' : leniently(part.slice(mark + 1)),
    'unreadable',
  ];
}

/** Decodes what can be decoded; the rest becomes replacement characters. */
function leniently(text: string): string {
  const bytes = text
    .replaceAll('+', ' ')
    .replaceAll(/(?:%[\da-f]{2})+/gi, run => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
  return bytes.replaceAll(/%(?![\da-f]{2})/gi, '\ufffd');
}

/** With a letter before it, qs leaves a name alone that begins with a bracket; it also looks for the end of a name at `]=`, in the value too. */
function readable(part: string): string {
  const mark = part.indexOf('=');
  return mark < 0 ? `_${part}` : `_${part.slice(0, mark + 1)}${part.slice(mark + 1).replaceAll('=', '%3D')}`;
}

const OPTIONS = { depth: 0, parseArrays: false, plainObjects: true, allowPrototypes: true } as const;
