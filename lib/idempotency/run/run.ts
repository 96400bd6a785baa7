import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { after, type Awaitable } from '../../basics/awaitable';
import { ClientGone } from '../../http/exchange-end';
import { warnOnce } from '../../warnings/warn-once';
import { refusal, type Attempt, type Exchange, type Outcome } from '../exchange/exchange';
import { LocalRun } from '../leases/local-runs';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import type { TransactionAdapter } from '../stores/transactions';
import { TIMED_OUT, withinTime } from '../store-calls/store-call';
import { commitWith, type CommittableRun } from './commit-with';
import { publish } from './publish';
import { Recorder, type Kept } from './recorder';
import type { HeadersBefore } from './recording';
import { echoKey, RequestGuard } from './request-idempotency';

/**
 * Runs the handler under the lease and records its response. The end of the response is held back until the outcome is
 * answered, when the response is stored and the lease completed: within `cacheDuration`, a client that has seen the end
 * can retry as often as it likes.
 */
export const runAndRecord = (exchange: Exchange, attempt: Attempt): Promise<Outcome> =>
  new GuardedRun(exchange, attempt).outcome();

const LOST = 'The idempotency lease was lost: another request may run the handler.';
const GIVEN_BACK = 'The idempotency lease was given back: the response is not stored, and a retry runs the handler.';

class GuardedRun implements CommittableRun {
  readonly guard: RequestGuard;
  private readonly recorder: Recorder;
  private readonly lease: LocalRun;
  private committed: 'committed' | 'lost' | 'unknown' | undefined;
  private isLost = false;

  constructor(
    readonly exchange: Exchange,
    readonly attempt: Attempt,
  ) {
    const { req, res, options } = exchange;
    this.recorder = new Recorder(req, res, options);
    this.guard = new RequestGuard(attempt.key, attempt.cacheKey, this);
    (req as { idempotency?: unknown }).idempotency = this.guard;
    this.lease = new LocalRun(attempt, options, this);
  }

  async outcome(): Promise<Outcome> {
    const { exchange, recorder, guard, lease } = this;
    try {
      const begun = performance.now();
      try {
        echoKey(exchange.req, exchange.res, exchange.options);
        exchange.next();
      } catch (error) {
        // Express catches what a handler throws. Without Express, its key is free, unless its response had ended.
        if (!recorder.hasEnded) return await this.giveBack(error);
        process.nextTick(() => {
          throw error;
        });
      }
      const ending = await recorder.ending;
      const handlerMs = performance.now() - begun;
      const kept = this.committed ? 'record' : await this.whatToKeep(guard.isForgotten ? 'nothing' : ending);
      lease.stopRenewing();
      if (kept === 'nothing') guard.endLease(GIVEN_BACK);
      // The work is done although the store fails, so the response is sent.
      let error: unknown;
      let isOurs = this.committed !== 'lost';
      try {
        if (!this.committed) isOurs = await this.settle(kept);
      } catch (thrown) {
        error = thrown;
      }
      if (!isOurs) this.lose();
      const isWhole = ending !== 'nothing' && recorder.hasEnded && isOurs;
      const sendEnd = isWhole ? recorder.finish.bind(recorder) : recorder.abort.bind(recorder);
      const ran = { status: isOurs ? recorder.status : undefined, handlerMs, error, sendEnd };
      if (!isOurs || error !== undefined) return { kind: 'not-stored', ...ran };
      if (typeof kept === 'object' || this.committed === 'committed') return { kind: 'executed', ...ran };
      if (!guard.refusal) return { kind: kept === 'nothing' && isWhole ? 'forgotten' : 'not-stored', ...ran };
      const { reason } = guard.refusal;
      return { ...ran, error: reason, kind: reason instanceof ClientGone ? 'abandoned' : 'refused' };
    } finally {
      lease.end();
    }
  }

  /** A retry may run: the handler has done nothing. */
  private async giveBack(error: unknown): Promise<Outcome> {
    this.guard.endLease(GIVEN_BACK);
    this.recorder.stop();
    await this.exchange.stores.releaseQuietly(this.attempt);
    return refusal(error);
  }

  /** Stores the response, or the record, or gives the lease back. @returns false if another run's response counts. */
  private async settle(kept: Kept): Promise<boolean> {
    const { attempt, lease, exchange } = this;
    const { options, stores } = exchange;
    if (kept !== 'nothing') return publish(attempt, lease, kept === 'record' ? undefined : kept, options, stores);
    const isExpired = performance.now() >= lease.leaseUntil;
    return (await stores.release(attempt)) || !isExpired;
  }

  private whatToKeep(ending: Kept): Awaitable<Kept> {
    const { req, options } = this.exchange;
    if (ending === 'nothing') return ending;
    // An error after an upload that broke off, which only `ignoreRequestBody` lets a handler see, is the answer to a
    // part of the body, and would keep the retry with the whole one from running.
    if (this.recorder.hasLeft && !req.complete && ending !== 'record' && ending.status >= 400) return 'nothing';
    // If a caller has appeared since, the next request with this key may be another caller's.
    if (ending === 'record' || this.attempt.caller.hasAppeared()) return 'record';
    if (!options.shouldCache) return ending;
    return after(isWanted(ending, options, req), wanted => (wanted ? ending : 'nothing'));
  }

  /** Returns why a response must not be committed; undefined if it may be. */
  async whyNotKept(response: RecordedResponse): Promise<string | undefined> {
    const { req, options } = this.exchange;
    if (!(await isWanted(response, options, req))) return 'shouldCache says that its response is not to be stored';
    const hasAppeared = this.attempt.caller.hasAppeared();
    return hasAppeared ? 'a caller has appeared since: mount authentication before idempotency()' : undefined;
  }

  commit<Tx, T>(adapter: TransactionAdapter<Tx>, work: (tx: Tx) => Promise<T>): Promise<T> {
    return commitWith(this, adapter, work);
  }

  /** The headers as the middlewares before `idempotency()` have left them. */
  get before(): HeadersBefore {
    return this.recorder.recording.before;
  }

  /** Called when a transaction has ended with the response, or nobody knows how. */
  end(how: NonNullable<GuardedRun['committed']>): void {
    this.committed = how;
    if (how !== 'lost') return;
    this.lose();
    this.recorder.breakOff();
  }

  forgotten(): void {
    this.recorder.showDeparture();
  }

  renew(): Awaitable<boolean> {
    return this.exchange.stores.renew(this.attempt);
  }

  lose(): void {
    if (this.isLost) return;
    this.isLost = true;
    this.guard.endLease(LOST);
    this.recorder.showDeparture();
    this.exchange.report({ kind: 'lease-lost' });
  }
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
