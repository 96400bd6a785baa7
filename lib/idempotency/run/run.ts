import type { Request } from 'express';
import { after, isPromise, type Awaitable } from '../../basics/awaitable';
import { ClientGone } from '../../http/exchange-end';
import { warnOnce } from '../../warnings/warn-once';
import { refusal, type Exchange, type Outcome } from './exchange';
import { LocalRun } from '../leases/local-runs';
import type { RecordedResponse } from '../responses/recorded-response';
import { TIMED_OUT, withinTime } from '../store-calls/store-call';
import type { TransactionAdapter } from '../stores/transactions';
import { commitWith, type CommittableRun } from './commit-with';
import { publish } from './publish';
import { Recorder, type Kept } from './recorder';
import { echoKey, RequestGuard } from './request-idempotency';

const LOST = 'The idempotency lease was lost: another request may run the handler.';
const GIVEN_BACK = 'The idempotency lease was given back: the response is not stored, and a retry runs the handler.';

/**
 * Runs the handler under the lease and records its response. The end of the response is held back until the outcome is
 * answered, when the response is stored and the lease completed: within `cacheDuration`, a client that has seen the end
 * can retry as often as it likes.
 */
export class GuardedRun implements CommittableRun {
  readonly guard: RequestGuard;
  readonly recorder: Recorder;
  private readonly lease: LocalRun;
  private committed: 'committed' | 'lost' | 'unknown' | undefined;
  private isLost = false;

  constructor(readonly exchange: Exchange) {
    const { req, res, options, key, id } = exchange;
    this.recorder = new Recorder(req, res, options);
    this.guard = new RequestGuard(key, id.cacheKey, this);
    (req as { idempotency?: unknown }).idempotency = this.guard;
    this.lease = new LocalRun(id, exchange.asked, options, this);
  }

  async outcome(): Promise<Outcome> {
    const { exchange, recorder, guard, lease } = this;
    try {
      const begun = performance.now();
      echoKey(exchange);
      try {
        exchange.next();
      } catch (error) {
        // Express catches what a handler throws; a `next` of the application's own may throw itself.
        if (!recorder.hasEnded) return await this.giveBack(error);
        process.nextTick(() => {
          throw error;
        });
      }
      const ending = await recorder.ending;
      const handlerMs = performance.now() - begun;
      const judged = this.committed ? 'record' : this.whatToKeep(guard.isForgotten ? 'nothing' : ending);
      const kept = isPromise(judged) ? await judged : judged;
      lease.stopRenewing();
      if (kept === 'nothing') guard.endLease(GIVEN_BACK);
      // The work is done although the store fails, so the response is sent.
      let error: unknown;
      let isOurs = this.committed !== 'lost';
      try {
        const settled = this.committed ? isOurs : this.settle(kept);
        isOurs = isPromise(settled) ? await settled : settled;
      } catch (thrown) {
        error = thrown;
      }
      if (!isOurs) this.lose();
      const isWhole = ending !== 'nothing' && recorder.hasEnded && isOurs;
      const answer = isWhole ? recorder.finish.bind(recorder) : recorder.abort.bind(recorder);
      const ran = { status: isOurs ? recorder.status : undefined, handlerMs, error, answer };
      if (!isOurs || error !== undefined) return { kind: 'not-stored', ...ran };
      if (typeof kept === 'object' || this.committed === 'committed') return { kind: 'executed', ...ran };
      if (!guard.refusal) return { kind: kept === 'nothing' && isWhole ? 'forgotten' : 'not-stored', ...ran };
      const { reason } = guard.refusal;
      return { ...ran, error: reason, kind: reason instanceof ClientGone ? 'abandoned' : 'refused' };
    } finally {
      lease.end();
    }
  }

  private async giveBack(error: unknown): Promise<Outcome> {
    this.guard.endLease(GIVEN_BACK);
    this.recorder.stop();
    await this.exchange.stores.releaseQuietly(this.exchange.id);
    return refusal(error);
  }

  /** Stores the response, or the record, or gives the lease back. @returns false if another run's response counts. */
  private settle(kept: Kept): Awaitable<boolean> {
    const { lease, exchange } = this;
    if (kept !== 'nothing') return publish(exchange, lease, kept === 'record' ? undefined : kept);
    const isExpired = performance.now() >= lease.leaseUntil;
    return after(exchange.stores.release(exchange.id), wasHeld => wasHeld || !isExpired);
  }

  private whatToKeep(ending: Kept): Awaitable<Kept> {
    if (typeof ending === 'string') return ending;
    // An error after an upload that broke off, which only `ignoreRequestBody` lets a handler see, is the answer to a
    // part of the body, and would keep the retry with the whole one from running.
    if (this.recorder.hasLeft && !this.exchange.req.complete && ending.status >= 400) return 'nothing';
    return this.judge(ending);
  }

  judge(response: RecordedResponse): Awaitable<Kept> {
    const { exchange } = this;
    return after(!exchange.options.shouldCache || isWanted(exchange, response), wanted => {
      // If a caller has appeared since, the next request with this key may be another caller's.
      if (exchange.caller?.hasAppeared()) return 'record';
      return wanted ? response : 'nothing';
    });
  }

  commit<Tx, T>(adapter: TransactionAdapter<Tx>, work: (tx: Tx) => Promise<T>): Promise<T> {
    return commitWith(this.exchange, adapter, work, this);
  }

  end(how: Parameters<CommittableRun['end']>[0]): void {
    if (how === 'committed' || how === 'lost' || how === 'unknown') this.committed = how;
    else this.guard.isForgotten = true;
    if (how !== 'lost') return;
    this.lose();
    this.recorder.breakOff();
  }

  forgotten(): void {
    this.recorder.showDeparture();
  }

  renew(): Awaitable<boolean> {
    return this.exchange.stores.renew(this.exchange.id);
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
async function isWanted({ options, req }: Exchange, response: RecordedResponse): Promise<boolean> {
  const { shouldCache, storeTimeout } = options;
  let fault: string;
  try {
    const answer: unknown = await withinTime(shouldCache?.(response, req as Request), storeTimeout);
    if (typeof answer === 'boolean') return answer;
    fault = `answered ${answer === null ? 'null' : `a value of type ${typeof answer}`} instead of true or false`;
  } catch (error) {
    fault = error === TIMED_OUT ? `did not answer within ${storeTimeout} ms` : `threw ${String(error)}`;
  }
  const text = `idempotency: shouldCache ${fault}, and the response is stored. Correct shouldCache.`;
  warnOnce('BINDONCE_SHOULD_CACHE', text);
  return true;
}
