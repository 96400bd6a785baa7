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
export function headerLines(
  name: string,
  { headers, headersDistinct }: IncomingMessage,
): readonly string[] | undefined {
  const current = headers[name];
  const sent = headersDistinct[name];
  if (current === undefined) return undefined;
  const isAsSent = sent && [current].flat().join(', ') === (keptOnce.has(name) ? sent[0] : sent.join(', '));
  return isAsSent ? sent : [current].flat();
}
