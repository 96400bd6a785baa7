import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerWith, pathOf, sendProblem } from './answer';
import { isErrorStatus, Problem } from './problem';

/**
 * Makes an Express error handler that answers every error as an RFC 9457 problem: refusals by bindonce, and the errors
 * of others. Of an error with a `status` or `statusCode`, the answer has that, and its `headers`; where it is exposed
 * (`expose`; by default below 500), also its message, `type`, `title`, `code` and other members. Any other error is a
 * 500 problem. The message of an error that is not exposed is printed, as Express does, and not sent. An error after
 * the head of the response is passed on. A problem that `routeValue()`, `queryValue()`, `headerValue()` or
 * `cookieValue()` has answered already is dropped.
 */
export function problemDetails(...nothing: never[]) {
  if (nothing.length > 0)
    throw new TypeError('problemDetails takes no arguments, and is not passed itself: app.use(problemDetails()).');
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
    else answerOther(error, req, res);
  };
}

/** What errors have by the conventions of http-errors and body-parser; anything may be anything. */
type Facts = Readonly<Record<string, unknown>>;

/** Names that are no members of the problem: they are read apart, or, as the `body` of body-parser, never sent. */
const READ_APART =
  /^(?:status|statusCode|expose|headers|type|title|message|detail|instance|name|stack|cause|body|storageErrors)$/;

const PRIMITIVE: readonly string[] = ['string', 'number', 'boolean'];

/** Answers an error that is no problem. One that is not exposed is printed, as Express's final handler does. */
function answerOther(error: unknown, req: IncomingMessage, res: ServerResponse): void {
  const facts = Object(error) as Facts;
  const { expose, headers, stack } = facts;
  const status = [facts['status'], facts['statusCode']].find(isErrorStatus);
  const isExposed = status !== undefined && (typeof expose === 'boolean' ? expose : status < 500);
  const { app } = req as { readonly app?: { get(setting: string): unknown } };
  if (!isExposed && app?.get('env') !== 'test') console.error(stack ?? String(error));
  const body = {
    ...{ type: 'about:blank', title: STATUS_CODES[status ?? 500] ?? 'Error', status: status ?? 500 },
    ...(isExposed && exposedOf(facts)),
    instance: pathOf(req),
  };
  sendProblem(body, (status === undefined ? {} : Object(headers)) as Problem['headers'], req, res);
}

/** Returns what an error says of itself. */
function exposedOf(facts: Facts): object {
  const { expose, type, title, message } = facts;
  // Without `expose`, the objects of an error may be those of a request to another service, with its credentials.
  const members = Object.entries(facts).filter(
    ([name, value]) => !READ_APART.test(name) && (expose === true || PRIMITIVE.includes(typeof value)),
  );
  // The rest of what a body parser says repeats part of the body.
  const [position = ''] =
    / at position \d+(?: \(line \d+ column \d+\))?/.exec(typeof message === 'string' ? message : '') ?? [];
  const detail = type === 'entity.parse.failed' ? `The body could not be parsed${position}.` : message;
  return {
    ...Object.fromEntries(members),
    // The types of body-parser are no URIs.
    ...(typeof type === 'string' && URL.canParse(type) && { type }),
    ...(typeof title === 'string' && { title }),
    ...(typeof message === 'string' && { detail }),
  };
}
