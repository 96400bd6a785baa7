import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import type { Next } from '../http/next';
import { Problem, type ProblemBody } from './problem';

/** Takes over the answering of refused requests, for example `(problem, req, res, next) => next(problem)`. */
export type OnProblem = (problem: Problem, req: Request, res: Response, next: Next) => void | Promise<void>;

/** How an application has refused requests answered. */
export interface Answering {
  readonly onProblem?: OnProblem | undefined;
  /** What the `type` of a problem begins with, before its code. */
  readonly problemTypeBase?: string | undefined;
}

/**
 * Answers a request. A {@link Problem} goes to the application's `onProblem`, or is sent as it is; any other error is
 * Express's. Whether an idempotency key stays usable is not decided here.
 */
export function answer(
  error: unknown,
  req: IncomingMessage,
  res: ServerResponse,
  next: Next,
  { onProblem, problemTypeBase }: Answering = {},
): void {
  if (error instanceof Problem && problemTypeBase !== undefined) error.typeBase = problemTypeBase;
  try {
    // Once a response has begun there is no room for another; Express's error handler closes the connection.
    if (!(error instanceof Problem) || res.headersSent) next(reasonOf(error));
    else if (onProblem) {
      Promise.resolve(onProblem(error, req as Request, res as Response, next)).catch((thrown: unknown) => {
        next(reasonOf(thrown));
      });
    } else sendProblem(error.toBody(pathOf(req)), error.headers, req, res);
  } catch (thrown) {
    next(reasonOf(thrown));
  }
}

/** To Express, `next(undefined)` and `next(false)` mean that there is no error: it would run the handler. */
function reasonOf(error: unknown): unknown {
  return error || new Error('bindonce: refused without a reason; something threw or rejected with nothing');
}

/** Writes a problem as `application/problem+json` (RFC 9457, section 3). */
export function sendProblem(
  body: ProblemBody,
  headers: Readonly<Record<string, string>>,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  // Some of the text may be the client's own; no browser is to take it for HTML or a script.
  res.setHeader('X-Content-Type-Options', 'nosniff');
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.setHeader('Content-Type', 'application/problem+json; charset=utf-8');
  res.setHeader('Content-Length', bytes.length);
  res.statusCode = body.status;
  res.end(req.method === 'HEAD' ? undefined : bytes);
}

/** The path alone: a query can hold what must not be repeated in an answer or a log. */
export function pathOf(req: IncomingMessage): string | undefined {
  const url = (req as { originalUrl?: string }).originalUrl ?? req.url;
  return url?.split('?', 1)[0];
}
