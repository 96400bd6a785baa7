import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Next } from '../http/next';
import { answer, pathOf, sendProblem } from './answer';
import { isAnswered } from './answer-in-handler';
import { Problem } from './problem';

/**
 * Express error-handling middleware that answers our refusals, and the errors that http-errors makes (body parsers,
 * routers, multer-like middlewares), as RFC 9457 problems. Other errors, and errors after the head of the response has
 * been sent, go on to the next error handler: they are the application's, and their text is not for clients. A problem that
 * `routeValue()` or `queryValue()` has answered already ends here.
 */
export function problemDetails(...nothing: never[]) {
  if (nothing.length > 0)
    throw new TypeError('problemDetails: it was mounted, not called; write app.use(problemDetails())');
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

/** A body parser's message repeats some of the body that it could not read; its position says as much. */
function detailOf({ type, message }: HttpError): string {
  if (type !== 'entity.parse.failed') return message;
  const [position = ''] = / at position \d+(?: \(line \d+ column \d+\))?/.exec(message) ?? [];
  return `The body could not be parsed${position}.`;
}

interface HttpError extends Error {
  /** body-parser's name of what is wrong. */
  type?: string;
  status: number;
  expose: true;
  headers?: Record<string, string>;
}

/**
 * `expose` is http-errors' own word for "this message may be shown to the client": true for 4xx, false for 5xx. The router's
 * error for a path that cannot be decoded does not have it.
 */
function isHttpError(error: unknown): error is HttpError {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return false;
  const isShowable = 'expose' in error ? error.expose === true : error.name === 'URIError';
  return isShowable && error.status >= 400 && error.status <= 599;
}
