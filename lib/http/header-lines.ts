import type { IncomingMessage } from 'node:http';

/**
 * Returns the values of a header, one for each line that was sent: `req.headers` joins repeated lines, or keeps the
 * first. A middleware may have set, changed or removed a header that was not repeated.
 * @param name in lower case.
 */
export function headerLines(name: string, { headers, rawHeaders }: IncomingMessage): readonly string[] | undefined {
  // `req.headers` has a prototype: no client has sent `constructor`.
  const current = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (current === undefined) return undefined;
  // Node's `headersDistinct` makes a list for every header that was sent.
  const sent: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const one = rawHeaders[at] ?? '';
    if (one.length === name.length && one.toLowerCase() === name) sent.push(rawHeaders[at + 1] ?? '');
  }
  return sent.length > 1 ? sent : [current].flat();
}
