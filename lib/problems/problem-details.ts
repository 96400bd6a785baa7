import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerWith, pathOf, sendProblem } from './answer';
import { Problem } from './problem';

/**
 * Makes an Express error handler that answers refusals by bindonce, and the errors of body parsers, routers and others
 * that have a `status` and say with `expose` whether clients may see the message, as those of http-errors do, as RFC
 * 9457 problems. The message of an error that is not to be exposed is printed instead of sent. The handler passes on
 * other errors (a MulterError, for example), since their text is not meant for clients, and errors after the head of
 * the response has been sent. It drops a problem that `routeValue()`, `queryValue()`, `headerValue()` or
 * `cookieValue()` has answered already.
 */
export function problemDetails(...nothing: never[]) {
  if (nothing.length > 0) {
    const mistake = isRequest(nothing[0]) ? 'was passed to Express without being called' : 'takes no options';
    throw new TypeError(`problemDetails ${mistake}. Write app.use(problemDetails()).`);
  }
  // The type of `next` is written out, so that a package that exports the result can name it in its declarations.
  return function problemDetails(
    error: unknown,
    req: IncomingMessage,
    res: ServerResponse,
    next: (error?: unknown) => void,
  ): void {
    if (Problem.is(error) && error.isAnswered) return;
    if (res.headersSent) next(error);
    else if (Problem.is(error)) answerWith(error, req, res, next);
    else if (isHttpError(error)) {
      const { status, expose = true, headers = {} } = error;
      const title = STATUS_CODES[status] ?? 'Error';
      const detail = expose ? { detail: detailOf(error) } : undefined;
      if (!expose) print(error, req);
      sendProblem({ type: 'about:blank', title, status, ...detail, instance: pathOf(req) }, headers, req, res);
    } else next(error);
  };
}

/** Recognizes the first argument that Express passes. */
const isRequest = (value: unknown): boolean => typeof value === 'object' && value !== null && 'httpVersion' in value;

/** Returns the message, or only the position from a body parser's: the rest of that repeats part of the body. */
function detailOf({ type, message }: HttpError): string {
  if (type !== 'entity.parse.failed') return message;
  const [position = ''] = / at position \d+(?: \(line \d+ column \d+\))?/.exec(message) ?? [];
  return `The body could not be parsed${position}.`;
}

/** Prints an error as Express's final handler does, which an answered error does not reach. */
function print(error: Error, req: IncomingMessage): void {
  const { app } = req as { readonly app?: { get(setting: string): unknown } };
  if (app?.get('env') !== 'test') console.error(error.stack ?? String(error));
}

interface HttpError extends Error {
  /** The kind of error, as body-parser names it. */
  type?: string;
  status: number;
  /** False if the message is not for clients. The router's error for a path that cannot be decoded has no mark. */
  expose?: boolean;
  headers?: Record<string, string>;
}

/**
 * Returns true for an error with a status from 400 to 599 and a boolean `expose`, by which http-errors states whether
 * clients may see the message (by default true for 4xx, false for 5xx); and for the router's URIError, which has none.
 */
function isHttpError(error: unknown): error is HttpError {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return false;
  const isMarked = 'expose' in error ? typeof error.expose === 'boolean' : error.name === 'URIError';
  return isMarked && error.status >= 400 && error.status <= 599;
}
