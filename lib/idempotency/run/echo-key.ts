import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResolvedOptions } from '../options/resolved-options';

/**
 * Characters that a response header may have (RFC 9110, section 5.5). Node, or an earlier middleware, may accept more.
 */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Sets the key header before the handler runs, so that it is part of the response that is stored. A key that a header
 * cannot carry is not echoed.
 */
export function echoKey(
  req: IncomingMessage,
  res: ServerResponse,
  { addHeaderToResponse, headerName }: ResolvedOptions,
): void {
  const sent: unknown = req.headers[headerName.toLowerCase()];
  if (!addHeaderToResponse || res.hasHeader(headerName)) return;
  if (typeof sent === 'string' && HEADER_VALUE.test(sent)) res.setHeader(headerName, sent);
}
