import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { answer, type Answering } from './answer';
import type { Problem } from './problem';

/** Shared by every copy of this module in the process, so that one copy's `problemDetails()` knows another's answers. */
const ANSWERED = Symbol.for('bindonce.answered');

interface WithAnswered {
  [ANSWERED]?: Problem;
}

/** True when the request was answered with this very problem before the problem was thrown. */
export function isAnswered(problem: Problem, req: IncomingMessage): boolean {
  return (req as WithAnswered)[ANSWERED] === problem;
}

/**
 * Answers a request from within its handler. The problem is thrown afterwards, to stop the handler; in an asynchronous
 * handler on Express 4, Express does not learn of it.
 * @returns what to throw: the problem, or what the application's `onProblem` has passed to `next`.
 */
export function answerInHandler(problem: Problem, req: Request, answering?: Answering): unknown {
  const { res, next: goOn } = req;
  if (!res || res.headersSent) return problem;
  let passedOn: { readonly error: unknown } | undefined;
  let isThrown = false;
  answer(
    problem,
    req,
    res,
    error => {
      if (!isThrown) {
        passedOn = { error };
        return;
      }
      // The problem has been past all error handlers by now, and nobody else will answer it.
      Reflect.deleteProperty(res, 'headersSent');
      answer(error, req, res, goOn ?? (() => undefined));
    },
    answering,
  );
  isThrown = true;
  if (passedOn) return passedOn.error;
  (req as WithAnswered)[ANSWERED] = problem;
  keepConnection(req);
  beginsLater(res);
  // An error handler that answers without a look at `headersSent` must not end the process.
  res.on('error', () => undefined);
  return problem;
}

/**
 * For an `onProblem` that answers later: error handlers, Express's own included, must leave the response to it when the
 * problem reaches them. Node itself does not read this property.
 */
function beginsLater(res: Response): void {
  if (!res.headersSent) Object.defineProperty(res, 'headersSent', { value: true, configurable: true });
}

/**
 * Express's final handler destroys `req.socket` when an error comes after the head of the response: it takes the response
 * for half of one. This response is complete, and a body that was not read would make the destruction a reset, in which the
 * client loses it. Node's server holds the socket itself and closes it as ever.
 */
function keepConnection(req: Request): void {
  const socket = Object.create(req.socket, { destroy: { value: () => socket } }) as Socket;
  Object.defineProperty(req, 'socket', { value: socket, configurable: true, writable: true });
}
