import { ServerResponse, type IncomingMessage } from 'node:http';
import { asSent, mayHaveContent, OF_THE_BODY } from '../responses/recorded-response';
import type { HeaderLine, RecordedResponse } from '../responses/recorded-response';

/** Bytes that are written to the connection at once. */
const PIECE = 65_536;

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
  const { status, reason, body, trailers } = response;
  // A client that reads only when it has sent its body would wait for us, as we for it to take a long response.
  if (!req.complete) req.resume();
  setHeaders(response, res);
  if (replayedHeader !== false) res.setHeader(replayedHeader, 'true');
  res.statusCode = status;
  if (reason !== undefined) res.statusMessage = reason;
  // An HTTP/1.0 client knows neither chunks nor trailers.
  if (!res.useChunkedEncodingByDefault) res.removeHeader('Trailer');
  else if (trailers.length > 0) res.addTrailers(trailers as [string, string][]);
  const isFramed = res.hasHeader('Content-Length') || !mayHaveContent(req.method, status);
  if (isFramed && body.length <= PIECE) res.end(body.length > 0 ? asSent(body) : undefined, 'utf8');
  // Without a length, node chunks the content, as it did then.
  else void sendInPieces(body, res);
}

/**
 * Sends each piece of a long body when the client has received the one before. A connection that takes a piece at once
 * does so in the same turn of the event loop: without a pause, a hundred fast clients would get all of their replays
 * before any other request has a turn.
 */
async function sendInPieces(body: Buffer, res: ServerResponse): Promise<void> {
  res.writeHead(res.statusCode);
  let goOn = (): void => undefined;
  const next = (): void => void setImmediate(goOn);
  res.on('drain', next).once('close', next);
  // An earlier middleware (a timeout) may end the response meanwhile.
  for (let at = 0; at < body.length && !res.writableEnded && !res.destroyed; at += PIECE)
    await new Promise<void>(resolve => {
      goOn = resolve;
      // As `pipe` does it: the `write` of an adapter's connection may return nothing.
      if ((res.write(body.subarray(at, at + PIECE)) as unknown) !== false) next();
    });
  res.off('drain', next);
  if (!res.writableEnded && !res.destroyed) res.end();
}

/** Sets the headers with node's own methods: middlewares have already changed the recorded ones. */
function setHeaders({ headers, removed = [] }: RecordedResponse, res: ServerResponse): void {
  const isRecorded = (name: string): boolean => headers.some(([recorded]) => recorded.toLowerCase() === name);
  for (const name of res.getHeaderNames())
    if (OF_THE_BODY.has(name) && !isRecorded(name)) node.removeHeader.call(res, name);
  for (const name of removed) node.removeHeader.call(res, name);
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
