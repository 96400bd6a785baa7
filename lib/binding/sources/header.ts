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

/** `req.headers` joins repeated lines, or keeps the first only. What a middleware has made of it stands, all the same. */
function linesOf(name: string, { headers, headersDistinct }: IncomingMessage): readonly string[] | undefined {
  const current = headers[name];
  const sent = headersDistinct[name];
  const isAsSent = sent !== undefined && (current === sent[0] || [current].flat().join(', ') === sent.join(', '));
  if (isAsSent) return sent;
  return current === undefined ? undefined : [current].flat();
}
