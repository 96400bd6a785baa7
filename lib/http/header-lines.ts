import type { IncomingMessage } from 'node:http';

/** Headers of which node keeps only the first line (its documentation of `message.headers`). */
const keptOnce = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
]);

/**
 * Returns the values of a header, one for each line that was sent: `req.headers` joins repeated lines, or keeps the
 * first. If a middleware has changed the header, its value counts.
 * @param name in lower case.
 */
export function headerLines(name: string, { headers, rawHeaders }: IncomingMessage): readonly string[] | undefined {
  // `req.headers` has a prototype: no client has sent `constructor`.
  const current = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (current === undefined) return undefined;
  const sent = linesSent(name, rawHeaders);
  if (sent.length === 1 && sent[0] === current) return sent;
  const isAsSent = sent.length > 0 && [current].flat().join(', ') === (keptOnce.has(name) ? sent[0] : sent.join(', '));
  return isAsSent ? sent : [current].flat();
}

/** Finds the lines of one header. Node's `headersDistinct` makes a list for every header that was sent. */
function linesSent(name: string, rawHeaders: readonly string[]): string[] {
  const lines: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] ?? '';
    if (sent.length === name.length && sent.toLowerCase() === name) lines.push(rawHeaders[at + 1] ?? '');
  }
  return lines;
}
