import type { ErrorRequestHandler } from 'express';

/** Answers with the message of an error that nothing before has answered. Express would print it. */
export const errorAsText: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  if (res.headersSent) next(error);
  else res.status(500).end(error instanceof Error ? error.message : String(error));
};
