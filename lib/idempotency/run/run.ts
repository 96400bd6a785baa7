import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { isPromise, type Awaitable } from '../../basics/awaitable';
import { ClientGone } from '../../http/exchange-end';
import type { Attempt, Exchange } from '../exchange/exchange';
import { noteRunning } from '../leases/local-runs';
import type { Outcome } from '../outcome';
import type { RecordedResponse } from '../responses/recorded-response';
import { TimedOut, withinTime } from '../store-calls/store-call';
import { warnOnce } from '../../warnings/warn-once';
import type { CommittableRun } from './commit-with';
import { publish, type Publication } from './publish';
import { Recorder, type Ending } from './recorder';
import { Renewal } from './renewal';
import { echoKey, GuardedRequest, HandlerLease } from './request-idempotency';

/** A handler that runs under a lease. */
interface Run {
  readonly recorder: Recorder;
  readonly renewal: Renewal;
  readonly lease: HandlerLease;
  readonly verdict: Verdict;
}

/** What the handler, and the middlewares before it, have decided about the response. */
interface Verdict {
  /** True when nothing is to be kept. */
  keepsNothing: boolean;
  /** Set when a middleware has refused the request before it reached the handler. */
  refusal?: { readonly reason: unknown };
  /** Set when `commitWith` has settled the run. */
  commit?: 'committed' | 'lost' | 'unknown';
}

/** What is stored of a run: its response; only the record that the handler has run; or nothing, on purpose. */
type Kept = RecordedResponse | 'record' | 'nothing';

/** How a run ends that `commitWith` has settled. */
const SETTLED: Readonly<Record<NonNullable<Verdict['commit']>, Publication>> = {
  committed: { kind: 'published' },
  lost: { kind: 'lost' },
  unknown: { kind: 'failed', error: undefined },
};

/**
 * Runs the handler under the lease and records its response. The end of the response is held back until the outcome is
 * answered, when the response is stored and the lease completed: within `cacheDuration`, a client that has seen the end
 * can retry as often as it likes.
 * @param asked when the lease was asked for, in milliseconds of the monotonic clock.
 */
export async function runAndRecord(exchange: Exchange, attempt: Attempt, asked: number): Promise<Outcome> {
  const { options, stores, reporter } = exchange;
  const hasEnded = noteRunning(attempt, options.leases);
  try {
    const run = prepare(exchange, attempt, asked);
    const begun = performance.now();
    try {
      callHandler(exchange, run);
    } catch (error) {
      await stores.releaseQuietly(attempt);
      throw error;
    }
    const ending = await run.recorder.ending;
    const handlerMs = performance.now() - begun;
    const { commit } = run.verdict;
    const keeping = commit ? 'record' : whatToKeep(exchange, attempt, run, ending);
    const kept = isPromise(keeping) ? await keeping : keeping;
    run.renewal.stop();
    if (kept === 'nothing') run.lease.giveBack();
    const settling = commit
      ? SETTLED[commit]
      : kept === 'nothing'
        ? release(exchange, attempt, run)
        : publish(attempt, kept === 'record' ? undefined : kept, options, stores, run.renewal.until);
    const settled = isPromise(settling) ? await settling : settling;
    if (settled.kind === 'lost' && !run.lease.isLost) reporter.reportLostLease();
    return outcomeOf(run, ending, kept, settled, handlerMs);
  } finally {
    hasEnded();
  }
}

/** Begins the recording, the renewal of the lease, and `req.idempotency`. */
function prepare({ req, res, options, stores, reporter, next }: Exchange, attempt: Attempt, asked: number): Run {
  const lease = new HandlerLease();
  const verdict: Verdict = { keepsNothing: false };
  const recorder = new Recorder(req, res, options);
  const forget = (): void => {
    verdict.keepsNothing = true;
    recorder.stopHidingDeparture();
  };
  const refused = (reason: unknown): void => {
    verdict.refusal = { reason };
    forget();
  };
  const committable: CommittableRun = {
    exchange: { req, res, options, stores, reporter, next },
    attempt,
    before: recorder.recording.before,
    isForgotten: () => verdict.keepsNothing,
    whyNotKept: async response => {
      const { shouldCache } = options;
      const isWanted =
        !shouldCache ||
        (await ifWanted(response, () => shouldCache(response, req as Request), options.storeTimeout)) === response;
      if (!isWanted) return 'shouldCache says that its response is not to be stored';
      return attempt.caller.hasAppeared()
        ? 'a caller has appeared since: mount authentication before idempotency()'
        : undefined;
    },
    end: how => {
      verdict.commit = how;
      if (how !== 'lost') return;
      lease.lose();
      reporter.reportLostLease();
      recorder.breakOff();
    },
    giveUp: () => {
      verdict.keepsNothing = true;
    },
  };
  setIdempotency(req, new GuardedRequest(attempt, lease, forget, refused, committable));
  const renewal = new Renewal(attempt, options.leaseDuration, stores, asked, () => {
    lease.lose();
    recorder.stopHidingDeparture();
    reporter.reportLostLease();
  });
  return { recorder, renewal, lease, verdict };
}

function setIdempotency(req: IncomingMessage & { idempotency?: unknown }, guarded: GuardedRequest): void {
  req.idempotency = guarded;
}

/**
 * Calls what is mounted after `idempotency()`. Express catches what a handler throws; without Express, that arrives
 * here, and ends the lease, unless the handler had ended its response: then it has run.
 */
function callHandler({ req, res, next, options }: Exchange, { recorder, renewal, lease }: Run): void {
  try {
    echoKey(req, res, options);
    next();
  } catch (error) {
    if (recorder.hasEnded) {
      process.nextTick(() => {
        throw error;
      });
      return;
    }
    renewal.stop();
    lease.giveBack();
    recorder.stop();
    throw error;
  }
}

function whatToKeep(
  { req, options }: Exchange,
  { caller }: Attempt,
  { recorder, verdict }: Run,
  ending: Ending,
): Awaitable<Kept> {
  if (ending.kind === 'cut-off' || verdict.keepsNothing) return 'nothing';
  const { response } = ending;
  // An error after an upload that broke off, which only `ignoreRequestBody` lets a handler see, is the answer to a part
  // of the body, and would keep the retry with the whole one from running.
  if (recorder.isUploadBrokenOff && response && response.status >= 400) return 'nothing';
  // If a caller has appeared since, the next request with this key may be another caller's.
  if (!response || caller.hasAppeared()) return 'record';
  const { shouldCache } = options;
  return shouldCache ? ifWanted(response, () => shouldCache(response, req as Request), options.storeTimeout) : response;
}

/**
 * Gives the lease back. If it has expired and is not ours any more, another run may have published its response, and
 * then a response that we chose not to store must not be sent. (If the store cannot be asked, the work is done all the
 * same, and its response is sent.)
 */
async function release({ stores }: Exchange, attempt: Attempt, { renewal }: Run): Promise<Publication> {
  const isExpired = performance.now() >= renewal.until;
  try {
    const wasOurs = await stores.release(attempt);
    return { kind: isExpired && !wasOurs ? 'lost' : 'published' };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

function outcomeOf(
  { recorder, verdict: { refusal, commit } }: Run,
  ending: Ending,
  kept: Kept,
  settled: Publication,
  handlerMs: number,
): Outcome {
  const abort = (): void => {
    recorder.abort();
  };
  // Another run's response counts: a retry gets it.
  if (settled.kind === 'lost') return { kind: 'not-stored', handlerMs, sendEnd: abort };
  const isStored = (typeof kept === 'object' || commit === 'committed') && settled.kind === 'published';
  const finish = (): void => {
    try {
      recorder.finish(isStored);
    } catch (error) {
      // An earlier middleware has thrown at the end of the response.
      recorder.abort();
      throw error;
    }
  };
  const isWhole = ending.kind === 'ended' && recorder.hasEnded;
  const ran = { status: recorder.status, handlerMs, sendEnd: isWhole ? finish : abort };
  if (isStored) return { kind: 'executed', ...ran };
  if (settled.kind === 'failed') return { kind: 'not-stored', error: settled.error, ...ran };
  if (!refusal) return { kind: kept === 'nothing' && isWhole ? 'forgotten' : 'not-stored', ...ran };
  const { reason } = refusal;
  return reason instanceof ClientGone ? { kind: 'abandoned', ...ran } : { kind: 'refused', error: reason, ...ran };
}
/**
 * Asks `shouldCache`, for at most `storeTimeout`. Only `false` means no: the response has ended, so no error handler
 * could get an error any more, and storing is the safe side.
 */
async function ifWanted(response: RecordedResponse, ask: () => unknown, storeTimeout: number): Promise<Kept> {
  try {
    const answer = await withinTime(ask(), storeTimeout);
    if (typeof answer !== 'boolean') {
      warn(`answered ${answer === null ? 'null' : `a value of type ${typeof answer}`} instead of true or false`);
    }
    return answer === false ? 'nothing' : response;
  } catch (error) {
    warn(error instanceof TimedOut ? `did not answer within ${storeTimeout} ms` : `threw ${String(error)}`);
    return response;
  }
}

function warn(what: string): void {
  warnOnce(
    'BINDONCE_SHOULD_CACHE',
    `idempotency: shouldCache ${what}, and the response is stored. Correct shouldCache.`,
  );
}
