import { ServerResponse, type IncomingMessage } from 'node:http';
import { isUntouched } from '../../body/receive';
import { closeAfterBody } from '../../http/drain-rest';
import { isOfTheBody, linesOf } from './head-snapshot';
import type { HeaderLine, RecordedResponse } from './recorded-response';
import { sendBody } from './send-body';

const node = ServerResponse.prototype;

/**
 * Sends a recorded response. Of its head, the changes of the handler's side are replayed; headers that earlier
 * middlewares have set for the current request stay as they are.
 */
export function replay(
  response: RecordedResponse,
  req: IncomingMessage,
  res: ServerResponse,
  replayedHeader: string | false,
): void {
  const { status, reason, impliedBy, body } = response;
  closeAfterBody(req, res);
  // A client that reads only when it has sent its body would wait for us, as we for it to take a long response.
  if (isUntouched(req)) req.resume();
  setHead(response, res);
  if (replayedHeader !== false) res.setHeader(replayedHeader, 'true');
  res.statusCode = status;
  if (reason !== undefined) res.statusMessage = reason;
  // An HTTP/1.0 client knows neither chunks nor trailers.
  const trailers = res.useChunkedEncodingByDefault ? response.trailers : [];
  if (!res.useChunkedEncodingByDefault) res.removeHeader('Trailer');
  // The same call as then writes the head: until that, earlier middlewares may add to it, or change the content.
  if (impliedBy === undefined) res.writeHead(status);
  sendBody(req, res, { body, trailers: trailers as [string, string][], impliedBy });
}

/** Sets the headers with node's own methods: middlewares have already changed the recorded ones. */
function setHead({ headers, removed = [] }: RecordedResponse, res: ServerResponse): void {
  const recorded = new Set(headers.map(([name]) => name.toLowerCase()));
  const ofAnotherBody = linesOf(res)
    .map(([name]) => name)
    .filter(name => isOfTheBody(name) && !recorded.has(name.toLowerCase()));
  for (const name of [...removed, ...ofAnotherBody]) node.removeHeader.call(res, name);
  for (const [name, value] of headers) {
    // A copy: node appends to the list that it was given, and other replays have the same response.
    const own = typeof value === 'string' ? value : [...value];
    node.setHeader.call(res, name, name.toLowerCase() === 'set-cookie' ? withCookies(res, own) : own);
  }
}

function withCookies(res: ServerResponse, added: HeaderLine[1]): HeaderLine[1] {
  const set = res.getHeader('Set-Cookie');
  return set === undefined ? added : [...[set].flat().map(String), ...[added].flat()];
}
