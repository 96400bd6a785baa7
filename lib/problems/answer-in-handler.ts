import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Request } from 'express';
import { hasEnded } from '../http/exchange-end';
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
  (req as AnsweredRequest)[ANSWERED_WITH] = problem;
  // Express's final handler destroys the connection when an error comes after the head of a response, which it takes
  // for incomplete. This one is complete, and with an unread body the client would lose it.
  const socket = Object.create(req.socket, { destroy: { value: () => socket } }) as Socket;
  Object.defineProperty(req, 'socket', { value: socket, configurable: true, writable: true });
  // An error handler that answers without checking `headersSent` must not end the process.
  res.on('error', () => undefined);
  return problem;
}
