import type { ErrorRequestHandler, RequestHandler } from 'express';
import { idempotency, type IdempotencyOptions } from '../../lib';
import { guarded, type Around, type Keyed } from './guarded';

export type { Around } from './guarded';
export type Asked = Keyed;

/** Serves an application that answers every request with the number of its run. */
export async function countingService(guard: RequestHandler | IdempotencyOptions = {}, around: Around = {}) {
  const { app, url, post, runs } = await guarded(
    typeof guard === 'function' ? guard : idempotency(guard),
    (_req, res, _next, run) => res.set('X-Run', String(run)).send(`run ${run}`),
    around,
  );
  const onError: ErrorRequestHandler = (error: Error & { status?: number }, _req, res, next) => {
    if (res.headersSent) next(error);
    else res.status(error.status ?? 500).end(error.message);
  };
  app.use(onError);
  const ran = new Set<string>();
  /** The number of the run that answers a request, or the message of an error, or another status. */
  async function answerTo(request: Asked): Promise<string> {
    const { status, text, headers } = await post(request);
    const { 'x-run': run, 'idempotent-replayed': mark } = headers;
    if (run === undefined) return status === 500 ? text : String(status);
    expect([run, mark]).toEqual([run, ran.has(String(run)) ? 'true' : undefined]);
    ran.add(String(run));
    return String(run);
  }
  /** The same of requests that are sent one after another. */
  async function answersTo(requests: readonly Asked[]): Promise<string[]> {
    const answers: string[] = [];
    for (const request of requests) answers.push(await answerTo(request));
    return answers;
  }
  return { url, answerTo, answersTo, runs };
}

/**
 * Sends requests twice, by turns, and tells which of them are one: the numbers of the runs that answer them, or errors.
 */
export async function runsOf(requests: readonly Asked[], ...service: Parameters<typeof countingService>) {
  const { answersTo } = await countingService(...service);
  const answers = await answersTo(requests);
  expect(await answersTo(requests)).toEqual(answers);
  return answers.join(' ');
}

/** What `runsOf` says of requests of which each is another one, and of those that are all one. */
export const allDifferent = (requests: readonly unknown[]): string => requests.map((_, at) => at + 1).join(' ');
export const allOne = (requests: readonly unknown[]): string => requests.map(() => 1).join(' ');

/** Requests with a body. */
export const typed = (type: string, body?: string | Buffer, headers: Record<string, string> = {}): Asked => ({
  headers: { 'Content-Type': type, ...headers },
  body,
});
export const json = (body: string | Buffer): Asked => typed('application/json', body);
export const form = (body: string | Buffer): Asked => typed('application/x-www-form-urlencoded', body);
