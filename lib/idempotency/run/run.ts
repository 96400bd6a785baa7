import type { Request } from 'express';
import { ClientGone } from '../../http/exchange-end';
import { warnOnce } from '../../warnings/warn-once';
import { refusal, type Attempt, type Exchange, type Outcome } from '../exchange/exchange';
import { LocalRun } from '../leases/local-runs';
import { TIMED_OUT, withinTime } from '../store-calls/store-call';
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
  const guard = new RequestGuard(attempt.key, attempt.cacheKey, recorder.showDeparture.bind(recorder));
  (req as { idempotency?: unknown }).idempotency = guard;
  let isLost = false;
  const lose = (): void => {
    if (isLost) return;
    isLost = true;
    guard.endLease('The idempotency lease was lost: another request may run the handler.');
    recorder.showDeparture();
    exchange.report({ kind: 'lease-lost' });
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
    const kept = await whatToKeep(exchange, attempt, recorder, guard.isForgotten ? 'nothing' : ending);
    lease.stopRenewing();
    if (kept === 'nothing') guard.endLease(GIVEN_BACK);
    // The work is done although the store fails, so the response is sent.
    let error: unknown;
    const isOurs = await settle(exchange, attempt, lease, kept).catch((thrown: unknown) => {
      error = thrown;
      return true;
    });
    if (!isOurs) lose();
    const isWhole = ending !== 'nothing' && recorder.hasEnded && isOurs;
    const sendEnd = isWhole ? recorder.finish.bind(recorder) : recorder.abort.bind(recorder);
    const ran = { status: isOurs ? recorder.status : undefined, handlerMs, error, sendEnd };
    if (!isOurs || error !== undefined) return { kind: 'not-stored', ...ran };
    if (typeof kept === 'object') return { kind: 'executed', ...ran };
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

/**
 * Asks the application's `shouldCache`, for at most `storeTimeout`. Only `false` means no: the response has ended, so
 * no error handler could get an error any more, and storing is the safe side.
 */
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
  const { shouldCache, storeTimeout } = options;
  if (!shouldCache) return ending;
  let fault: string;
  try {
    const answer: unknown = await withinTime(shouldCache(ending, req as Request), storeTimeout);
    if (typeof answer === 'boolean') return answer ? ending : 'nothing';
    fault = `answered ${answer === null ? 'null' : `a value of type ${typeof answer}`} instead of true or false`;
  } catch (error) {
    fault = error === TIMED_OUT ? `did not answer within ${storeTimeout} ms` : `threw ${String(error)}`;
  }
  const text = `idempotency: shouldCache ${fault}, and the response is stored. Correct shouldCache.`;
  warnOnce('BINDONCE_SHOULD_CACHE', text);
  return ending;
}
