import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { ClientGone } from '../../http/exchange-end';
import { warnOnce } from '../../warnings/warn-once';
import { refusal, type Attempt, type Exchange, type Outcome } from '../exchange/exchange';
import { LocalRun } from '../leases/local-runs';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { TIMED_OUT, withinTime } from '../store-calls/store-call';
import { commitWith } from './commit-with';
import { publish } from './publish';
import { Recorder, type Kept } from './recorder';
import { echoKey, RequestGuard } from './request-idempotency';

/**
 * Runs the handler under the lease and records its response. The end of the response is held back until the outcome is
 * answered, when the response is stored and the lease completed: within `cacheDuration`, a client that has seen the end
 * can retry as often as it likes.
 */
export async function runAndRecord(exchange: Exchange, attempt: Attempt): Promise<Outcome> {
  const { req, res, next, options, stores } = exchange;
  const recorder = new Recorder(req, res, options);
  let committed: 'committed' | 'lost' | 'unknown' | undefined;
  const guard: RequestGuard = new RequestGuard(
    attempt.key,
    attempt.cacheKey,
    recorder.showDeparture.bind(recorder),
    (adapter, work) =>
      commitWith({ exchange, attempt, guard, before: recorder.recording.before, whyNotKept, end }, adapter, work),
  );
  (req as { idempotency?: unknown }).idempotency = guard;
  let isLost = false;
  const lose = (): void => {
    if (isLost) return;
    isLost = true;
    guard.endLease('The idempotency lease was lost: another request may run the handler.');
    recorder.showDeparture();
    exchange.report({ kind: 'lease-lost' });
  };
  const end = (how: NonNullable<typeof committed>): void => {
    committed = how;
    if (how !== 'lost') return;
    lose();
    recorder.breakOff();
  };
  const lease = new LocalRun(attempt, options, () => stores.renew(attempt), lose);
  try {
    const begun = performance.now();
    try {
      echoKey(req, res, options);
      next();
    } catch (error) {
      // Express catches what a handler throws. Without Express, its key is free, unless its response had ended.
      if (!recorder.hasEnded) {
        guard.endLease(GIVEN_BACK);
        recorder.stop();
        await stores.releaseQuietly(attempt);
        return refusal(error);
      }
      process.nextTick(() => {
        throw error;
      });
    }
    const ending = await recorder.ending;
    const handlerMs = performance.now() - begun;
    const kept = committed
      ? 'record'
      : await whatToKeep(exchange, attempt, recorder, guard.isForgotten ? 'nothing' : ending);
    lease.stopRenewing();
    if (kept === 'nothing') guard.endLease(GIVEN_BACK);
    // The work is done although the store fails, so the response is sent.
    let error: unknown;
    const isOurs = committed
      ? committed !== 'lost'
      : await settle(exchange, attempt, lease, kept).catch((thrown: unknown) => {
          error = thrown;
          return true;
        });
    if (!isOurs) lose();
    const isWhole = ending !== 'nothing' && recorder.hasEnded && isOurs;
    const sendEnd = isWhole ? recorder.finish.bind(recorder) : recorder.abort.bind(recorder);
    const ran = { status: isOurs ? recorder.status : undefined, handlerMs, error, sendEnd };
    if (!isOurs || error !== undefined) return { kind: 'not-stored', ...ran };
    if (typeof kept === 'object' || committed === 'committed') return { kind: 'executed', ...ran };
    if (!guard.refusal) return { kind: kept === 'nothing' && isWhole ? 'forgotten' : 'not-stored', ...ran };
    const { reason } = guard.refusal;
    return { ...ran, error: reason, kind: reason instanceof ClientGone ? 'abandoned' : 'refused' };
  } finally {
    lease.end();
  }
}

const GIVEN_BACK = 'The idempotency lease was given back: the response is not stored, and a retry runs the handler.';

/** Stores the response, or the record, or gives the lease back. @returns false if another run's response may count. */
async function settle({ options, stores }: Exchange, attempt: Attempt, lease: LocalRun, kept: Kept): Promise<boolean> {
  if (kept !== 'nothing') return publish(lease, kept === 'record' ? undefined : kept, options, stores);
  const isExpired = performance.now() >= lease.leaseUntil;
  return (await stores.release(attempt)) || !isExpired;
}

async function whatToKeep(
  { req, options }: Exchange,
  { caller }: Attempt,
  { hasLeft }: Recorder,
  ending: Kept,
): Promise<Kept> {
  if (ending === 'nothing') return ending;
  // An error after an upload that broke off, which only `ignoreRequestBody` lets a handler see, is the answer to a part
  // of the body, and would keep the retry with the whole one from running.
  if (hasLeft && !req.complete && ending !== 'record' && ending.status >= 400) return 'nothing';
  // If a caller has appeared since, the next request with this key may be another caller's.
  if (ending === 'record' || caller.hasAppeared()) return 'record';
  return (await isWanted(ending, options, req)) ? ending : 'nothing';
}

/** Returns why a response must not be committed; undefined if it may be. */
async function whyNotKept(
  { req, options }: Exchange,
  { caller }: Attempt,
  response: RecordedResponse,
): Promise<string | undefined> {
  if (!(await isWanted(response, options, req))) return 'shouldCache says that its response is not to be stored';
  return caller.hasAppeared() ? 'a caller has appeared since: mount authentication before idempotency()' : undefined;
}

/**
 * Asks the application's `shouldCache`, for at most `storeTimeout`. Only `false` means no: the response has ended, so
 * no error handler could get an error any more, and storing is the safe side.
 */
async function isWanted(response: RecordedResponse, options: ResolvedOptions, req: IncomingMessage): Promise<boolean> {
  const { shouldCache, storeTimeout } = options;
  if (!shouldCache) return true;
  let fault: string;
  try {
    const answer: unknown = await withinTime(shouldCache(response, req as Request), storeTimeout);
    if (typeof answer === 'boolean') return answer;
    fault = `answered ${answer === null ? 'null' : `a value of type ${typeof answer}`} instead of true or false`;
  } catch (error) {
    fault = error === TIMED_OUT ? `did not answer within ${storeTimeout} ms` : `threw ${String(error)}`;
  }
  const text = `idempotency: shouldCache ${fault}, and the response is stored. Correct shouldCache.`;
  warnOnce('BINDONCE_SHOULD_CACHE', text);
  return true;
}
