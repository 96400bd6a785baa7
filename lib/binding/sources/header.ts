import type { IncomingMessage } from 'node:http';
import { readText } from '../reading/reading';
import type { ValueSource } from './value-source';

/** SPEC, "HTTP headers": names in any case (RFC 9110, section 5.1); repeated lines are several values. */
export const header: ValueSource = {
  source: 'header',
  missing: 'This header is missing from the request.',
  open(input) {
    return slot => {
      const values = linesOf(slot.name.toLowerCase(), input.req);
      return values && readText(slot, values, input.placeOf('header', slot.name));
    };
  },
};

/** Headers of which node keeps the first line only (its documentation of `message.headers`). */
const keptOnce = new Set(['age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host', 'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization', 'referer', 'retry-after', 'server', 'user-agent']);

/** `req.headers` joins repeated lines, or keeps the first. What a middleware has made of them counts, all the same. */
function linesOf(name: string, { headers, headersDistinct }: IncomingMessage): readonly string[] | undefined {
  const current = headers[name];
  const sent = headersDistinct[name];
  if (current === undefined) return undefined;
  const isAsSent = sent && [current].flat().join(', ') === (keptOnce.has(name) ? sent[0] : sent.join(', '));
  return isAsSent ? sent : [current].flat();
}
