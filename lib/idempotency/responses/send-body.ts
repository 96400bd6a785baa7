import { ServerResponse, type IncomingMessage } from 'node:http';
import { steps } from '../../basics/steps';
import { onExchangeEnd } from '../../http/exchange-end';
import { contentFor } from '../../http/queued-content';
import type { RecordedResponse } from './recorded-response';

/** Bytes that are written to the connection at once. */
const PIECE = 65_536;

const node = ServerResponse.prototype as { write: unknown; end: unknown };

interface Content extends Pick<RecordedResponse, 'body' | 'impliedBy'> {
  readonly trailers: readonly [string, string][];
}

/**
 * Sends the body of a replay and ends the response. A long body is sent in pieces, each when the client has received
 * the one before, so that a slow client does not keep a copy in the buffers of its connection. When the client
 * disconnects, sending stops.
 */
export function sendBody(req: IncomingMessage, res: ServerResponse, { body, impliedBy, trailers }: Content): void {
  const end = (last?: Buffer): void => {
    if (trailers.length > 0) res.addTrailers(trailers);
    if (last) res.end(...contentFor(res, last));
    else res.end();
  };
  if (body.length <= PIECE && impliedBy === 'write') {
    res.write(...contentFor(res, body));
    end();
  } else if (body.length <= PIECE || (impliedBy === 'end' && !isNodesOwn(res))) end(body.length > 0 ? body : undefined);
  else {
    if (impliedBy === 'end') declareBodyLength(res, body.length);
    sendInPieces(req, res, body, end);
  }
}

/** Returns false if a middleware has replaced `write` or `end`: its `end` may still add to an implicit head. */
function isNodesOwn(res: ServerResponse): boolean {
  return res.write === node.write && res.end === node.end;
}

/** Declares the length, as node does if `end` writes the head. */
function declareBodyLength(res: ServerResponse, length: number): void {
  if (!res.hasHeader('Content-Length') && !res.hasHeader('Trailer') && res.useChunkedEncodingByDefault)
    res.setHeader('Content-Length', length);
}

function sendInPieces(req: IncomingMessage, res: ServerResponse, body: Buffer, end: () => void): void {
  let sent = 0;
  let hasStopped = false;
  const send = (): void => {
    // An earlier middleware (a timeout) may have ended the response meanwhile.
    while (!hasStopped && !res.writableEnded && !res.destroyed) {
      if (sent >= body.length) {
        stop();
        end();
        return;
      }
      const piece = body.subarray(sent, sent + PIECE);
      sent += piece.length;
      // As `pipe` does it: the `write` of an adapter's connection (@codegenie/serverless-express) returns nothing.
      const mayGoOn: unknown = res.write(...contentFor(res, piece));
      if (mayGoOn === false) return;
    }
    stop();
  };
  const sendOn = (): void => {
    try {
      send();
    } catch (error) {
      stop();
      res.destroy(error as Error);
    }
  };
  // A connection that accepts a piece at once drains within the same turn of the event loop: without a pause, a hundred
  // fast clients would get all of their replays before any other request has a turn.
  const sendSoon = (): void => {
    steps.setImmediate(sendOn);
  };
  const stop = (): void => {
    hasStopped = true;
    takeBack();
    res.removeListener('drain', sendSoon);
  };
  res.on('drain', sendSoon);
  const takeBack = onExchangeEnd(req, res, () => {
    res.removeListener('drain', sendSoon);
  });
  send();
}
