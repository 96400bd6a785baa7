import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import type { Request, Response } from 'express';
import type { Next } from '../http/express';
import { Problem, type ProblemBody } from './problem';

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
  if (Problem.is(error) && problemTypeBase !== undefined) error.typeBase = problemTypeBase;
  try {
    // A response that has begun cannot be replaced; Express's error handler closes the connection.
    if (!Problem.is(error) || res.headersSent) next(reasonOf(error));
    else if (onProblem) {
      Promise.resolve(onProblem(error, req as Request, res as Response, next)).catch((thrown: unknown) => {
        next(reasonOf(thrown));
      });
    } else sendProblem(error.toBody(pathOf(req)), error.headers, req, res);
  } catch (thrown) {
    next(reasonOf(thrown));
  }
}

/** Returns an error. To Express, `next(undefined)` and `next(false)` mean "no error": it would run the handler. */
function reasonOf(error: unknown): unknown {
  return (
    error || new Error(`bindonce: a request was refused because code threw ${inspect(error)}. Throw an Error instead.`)
  );
}

/**
 * Headers that describe the content of the response that has failed, which is not sent. (Content-Language stays: an
 * application may set it once for all, and write its messages in that language.)
 */
const OF_OTHER_CONTENT = [
  'Content-Digest',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Location',
  'Content-Range',
  'Repr-Digest',
  // With it, node refuses to send the length of the content.
  'Trailer',
];

/** Writes a problem as `application/problem+json` (RFC 9457, section 3). */
export function sendProblem(
  body: Omit<ProblemBody, 'detail'> & Partial<Pick<ProblemBody, 'detail'>>,
  headers: Readonly<Record<string, string>>,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const text = JSON.stringify(body);
  for (const name of OF_OTHER_CONTENT) res.removeHeader(name);
  // The text can quote the client's values, which a browser must not take for HTML or a script.
  res.setHeader('X-Content-Type-Options', 'nosniff');
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
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
