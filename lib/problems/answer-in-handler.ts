import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { answerWith, type Answering } from './answer';
import type { Problem } from './problem';

/** Shared by every copy of this module in the process: one copy's `problemDetails()` must know another's answers. */
const ANSWERED_WITH = Symbol.for('bindonce.answered');

interface AnsweredRequest {
  [ANSWERED_WITH]?: Problem;
}

/** Returns true if the request was answered with this problem before the problem was thrown. */
export function isAnsweredWith(problem: Problem, req: IncomingMessage): boolean {
  return (req as AnsweredRequest)[ANSWERED_WITH] === problem;
}

/**
 * Answers a request from within its handler, before the problem is thrown to stop the handler: Express 4 does not
 * notice an error in an asynchronous handler.
 * @returns the error to throw: the problem, or the error that the application's `onProblem` has passed to `next`.
 */
export function answerInHandler(problem: Problem, req: Request, answering?: Answering): unknown {
  const { res, next: goOn } = req;
  if (!res || res.headersSent) return problem;
  let passedOn: { readonly error: unknown } | undefined;
  let isThrown = false;
  answerWith(
    problem,
    req,
    res,
    error => {
      if (!isThrown) {
        passedOn = { error };
        return;
      }
      // The problem has passed all error handlers by now, so none of them will answer.
      Reflect.deleteProperty(res, 'headersSent');
      answerWith(error, req, res, goOn ?? (() => undefined));
    },
    answering,
  );
  isThrown = true;
  if (passedOn) return passedOn.error;
  (req as AnsweredRequest)[ANSWERED_WITH] = problem;
  keepConnection(req);
  pretendHeadersSent(res);
  // An error handler that answers without checking `headersSent` must not end the process.
  res.on('error', () => undefined);
  return problem;
}

/**
 * Makes error handlers, Express's own included, leave the response to an `onProblem` that answers later. Node itself
 * does not read this property.
 */
function pretendHeadersSent(res: Response): void {
  if (!res.headersSent) Object.defineProperty(res, 'headersSent', { value: true, configurable: true });
}

/**
 * Keeps Express's final handler from destroying the connection: it does that when an error comes after the head of the
 * response, which it takes for incomplete. This response is complete, and if the request's body has not been read,
 * destroying the connection resets it and the client loses the response. Node's server holds the real socket and closes
 * it as usual.
 */
function keepConnection(req: Request): void {
  const socket = Object.create(req.socket, { destroy: { value: () => socket } }) as Socket;
  Object.defineProperty(req, 'socket', { value: socket, configurable: true, writable: true });
}
