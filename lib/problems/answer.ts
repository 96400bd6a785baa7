import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import type { Request, Response } from 'express';
import { hasEnded } from '../http/exchange-end';
import type { Next } from '../http/express';
import { Problem } from './problem';

/** Takes over the answering of refused requests, for example `(problem, req, res, next) => next(problem)`. */
export type OnProblem = (problem: Problem, req: Request, res: Response, next: Next) => void | Promise<void>;

/** How refused requests are answered. */
export interface Answering {
  readonly onProblem?: OnProblem | undefined;
  /** The beginning of a problem's `type`; its code follows. */
  readonly problemTypeBase?: string | undefined;
}

/**
 * Answers a request with an error. A {@link Problem} is passed to the application's `onProblem`, or sent if there is
 * none; any other error is passed to Express. Has no effect on the idempotency key.
 */
export function answerWith(
  error: unknown,
  req: IncomingMessage,
  res: ServerResponse,
  next: Next,
  { onProblem, problemTypeBase }: Answering = {},
): void {
  const passOn = (reason: unknown): void => next(reasonOf(reason));
  if (Problem.is(error) && problemTypeBase !== undefined) error.typeBase = problemTypeBase;
  try {
    // A response that has begun cannot be replaced; Express's error handler closes the connection.
    if (!Problem.is(error) || res.headersSent) passOn(error);
    else if (onProblem) {
      Promise.resolve(onProblem(error, req as Request, res as Response, next)).catch(passOn);
    } else sendProblem(error.toBody(pathOf(req)), error.headers, req, res);
  } catch (thrown) {
    passOn(thrown);
  }
}

/** Returns an error. To Express, `next(undefined)` and `next(false)` mean "no error": it would run the handler. */
const reasonOf = (error: unknown): unknown =>
  error || new Error(`bindonce: a request was refused because code threw ${inspect(error)}. Throw an Error instead.`);

/**
 * Headers that describe the content of the response that has failed, which is not sent; with a Trailer, node refuses to
 * send the length of the content. (Content-Language stays: an application may set it once for all, and write its
 * messages in that language.)
 */
const OF_OTHER_CONTENT =
  /^(?:content-(?:digest|disposition|encoding|location|range)|repr-digest|trailer|transfer-encoding)$/;

/** Writes a problem as `application/problem+json` (RFC 9457, section 3). */
export function sendProblem(
  body: { readonly status: number },
  headers: Problem['headers'],
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const text = JSON.stringify(body);
  // First: an error of a client of another service may have the headers of that response.
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  for (const name of res.getHeaderNames()) if (OF_OTHER_CONTENT.test(name)) res.removeHeader(name);
  // The text can quote the client's values, which a browser must not take for HTML or a script.
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Content-Type', 'application/problem+json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.statusCode = body.status;
  // Without a reason phrase, node sends the one of the status. HTTP/2 has none.
  if (req.httpVersionMajor < 2) res.statusMessage = '';
  res.end(req.method === 'HEAD' ? undefined : text);
}

/** Returns the path alone: a query can contain values that must not appear in a response or a log. */
export function pathOf(req: IncomingMessage): string | undefined {
  const url = (req as { originalUrl?: string }).originalUrl ?? req.url;
  return url?.split('?', 1)[0];
}

/**
 * The method of a `req.idempotency` that is called when a later middleware refuses the request before its handler has
 * run. Shared by every copy of this module in the process.
 */
export const REFUSED = Symbol.for('bindonce.refused');

/**
 * Refuses a request before its handler has run, and answers it. The handler has done nothing, so the idempotency key
 * stays usable. Not for an error that a handler throws: that is its response. (When an earlier middleware throws at the
 * end of a response, `idempotency()` calls this, too. The run is over then, and its listener has no effect.)
 */
export function refuse(error: unknown, req: IncomingMessage, res: ServerResponse, next: Next, how?: Answering): void {
  tellListener(req, error);
  answerWith(error, req, res, next, how);
}

/** Ends a request whose client disconnected before its handler ran. It is not answered; a retry is a first request. */
export function abandon(reason: unknown, req: IncomingMessage, res: ServerResponse): void {
  tellListener(req, reason);
  res.destroy();
}

function tellListener(req: IncomingMessage, reason: unknown): void {
  const listener = Object((req as { idempotency?: unknown }).idempotency) as { [REFUSED]?: (reason: unknown) => void };
  listener[REFUSED]?.(reason);
}

/**
 * Answers a request from within its handler, before the problem is thrown to stop the handler: Express 4 does not
 * notice an error in an asynchronous handler.
 * @returns the error to throw: the problem, or the error that the application's `onProblem` has passed to `next`. What
 * is not answered yet, error handlers answer.
 */
export function answerInHandler(problem: Problem, req: Request, answering?: Answering): unknown {
  const { res } = req;
  if (!res || res.headersSent) return problem;
  const passedOn: unknown[] = [];
  answerWith(problem, req, res, error => passedOn.push(error), answering);
  if (passedOn.length > 0) return passedOn[0];
  if (!hasEnded(res)) return problem;
  problem.isAnswered = true;
  // Express's final handler destroys the connection when an error comes after the head of a response, which it takes
  // for incomplete. This one is complete, and with an unread body the client would lose it.
  const socket = Object.create(req.socket, { destroy: { value: () => socket } }) as Socket;
  Object.defineProperty(req, 'socket', { value: socket, configurable: true, writable: true });
  // An error handler that answers without checking `headersSent` must not end the process.
  res.on('error', () => undefined);
  return problem;
}
