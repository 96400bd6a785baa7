import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Next } from '../http/next';
import { answer, pathOf, sendProblem } from './answer';
import { isAnswered } from './answer-in-handler';
import { Problem } from './problem';

/**
 * Makes an Express error handler that answers refusals by bindonce, and the errors that http-errors makes (body
 * parsers, routers, multer-like middlewares), as RFC 9457 problems. It passes on other errors, since their text is not
 * meant for clients, and errors after the head of the response has been sent. It drops a problem that `routeValue()` or
 * `queryValue()` has answered already.
 */
export function problemDetails(...nothing: never[]) {
  if (nothing.length > 0)
    throw new TypeError('problemDetails was passed to Express without being called. Write app.use(problemDetails()).');
  return function problemDetails(error: unknown, req: IncomingMessage, res: ServerResponse, next: Next): void {
    if (error instanceof Problem && isAnswered(error, req)) return;
    if (res.headersSent) next(error);
    else if (error instanceof Problem) answer(error, req, res, next);
    else if (isHttpError(error)) {
      const { status, headers = {} } = error;
      sendProblem(
        {
          type: 'about:blank',
          title: STATUS_CODES[status] ?? 'Error',
          status,
          detail: detailOf(error),
          instance: pathOf(req),
        },
        headers,
        req,
        res,
      );
    } else next(error);
  };
}

/** Returns the message, or only the position from a body parser's: the rest of that repeats part of the body. */
function detailOf({ type, message }: HttpError): string {
  if (type !== 'entity.parse.failed') return message;
  const [position = ''] = / at position \d+(?: \(line \d+ column \d+\))?/.exec(message) ?? [];
  return `The body could not be parsed${position}.`;
}

interface HttpError extends Error {
  /** The kind of error, as body-parser names it. */
  type?: string;
  status: number;
  expose: true;
  headers?: Record<string, string>;
}

/**
 * Reads `expose`, by which http-errors states whether clients may see the message: true for 4xx, false for 5xx. The
 * router's error for a path that cannot be decoded does not have it.
 */
function isHttpError(error: unknown): error is HttpError {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return false;
  const isShowable = 'expose' in error ? error.expose === true : error.name === 'URIError';
  return isShowable && error.status >= 400 && error.status <= 599;
}
