import type { ServerResponse } from 'node:http';
import { after, isPromise, type Awaitable } from '../../basics/awaitable';
import { steps } from '../../basics/steps';
import { ClientGone } from '../../http/client-gone';
import { onExchangeEnd } from '../../http/exchange-end';
import type { Attempt } from '../exchange/attempt';
import type { Exchange } from '../exchange/exchange';
import type { Ran, RunResult } from '../exchange/outcome';
import { areInMemory } from '../leases/memory-leases';
import { noteRun } from '../store-calls/local-runs';
import { publish, type Publication } from './publish';
import type { RecordedResponse } from '../responses/recorded-response';
import type { Ending, Recording } from '../responses/recording';
import { isWanted } from './should-cache';
import { startHandler, type Run } from './start-handler';

/** What is stored of a run. */
type Kept =
  | { readonly kind: 'response'; readonly response: RecordedResponse }
  /** There is no response to keep: the record that the handler has run is stored all the same. */
  | { readonly kind: 'record' }
  | { readonly kind: 'nothing' };

/** The end of a lease: completed with a record, or given back if nothing is kept on purpose. */
type Settlement = Publication | { readonly kind: 'released' };

/** Another run's response counts, and none of this one was sent. */
interface Overtaken {
  readonly kind: 'overtaken';
  /** Restores `res` as it was before the handler. */
  readonly takeBack: () => void;
}

/**
 * Runs the handler under the lease and records its response. The end of the response is held back until the outcome is
 * answered, when the response is stored and the lease completed: within `cacheDuration`, a client that has seen the end
 * can retry as often as it likes.
 * @param asked when the lease was asked for, in milliseconds of the monotonic clock.
 */
export async function runAndRecord(exchange: Exchange, attempt: Attempt, asked: number): Promise<Ran | Overtaken> {
  const { leases } = exchange.options;
  // Leases in memory do not fail, so that no one asks which runs are at work.
  const hasEnded = areInMemory(leases) ? undefined : noteRun(attempt, 'running', leases);
  try {
    const started = startHandler(exchange, attempt, asked);
    const run = isPromise(started) ? await started : started;
    const ending = await run.recording.ending;
    const handlerMs = performance.now() - run.begun;
    const keeping = whatToKeep(exchange, attempt, run, ending);
    const kept = isPromise(keeping) ? await keeping : keeping;
    run.renewal.stop();
    run.lease.stopWatching();
    const settling = settle(exchange, attempt, run, kept);
    const settlement = isPromise(settling) ? await settling : settling;
    if (run.thrown) throwAtEnd(exchange, run.thrown.error);
    if (settlement.kind === 'lost') return overtaken(exchange, run, ending, handlerMs);
    const status = (ending.kind === 'complete' && ending.response?.status) || exchange.res.statusCode;
    const result = resultOf(settlement, kept, run, { status, handlerMs });
    const sendEnd = (): void => {
      endResponse(run.recording, exchange.res, ending, result.kind === 'executed');
    };
    return { kind: 'ran', result, sendEnd };
  } finally {
    hasEnded?.();
  }
}

/**
 * Throws what a handler has thrown, where no one catches it, as without bindonce. First the response is sent: the error
 * may end the process.
 */
function throwAtEnd({ req, res }: Exchange, error: unknown): void {
  onExchangeEnd(req, res, () => {
    steps.setImmediate(() => {
      throw error;
    });
  });
}

/** Decides what is stored. */
function whatToKeep({ req, options }: Exchange, { caller }: Attempt, run: Run, ending: Ending): Awaitable<Kept> {
  if (ending.kind === 'cut-off' || run.verdict.keepsNothing || isForPartOfUpload(run, ending))
    return { kind: 'nothing' };
  // If a caller has appeared since, the next request with this key may be another caller's.
  const response = caller.hasAppeared() ? undefined : ending.response;
  if (!response) return { kind: 'record' };
  return after(isWanted(response, req, options), wanted =>
    wanted ? { kind: 'response', response } : { kind: 'nothing' },
  );
}

/**
 * Returns true for an error after an upload that broke off, which only `ignoreRequestBody` lets a handler see. It is
 * the answer to a part of the body, and would keep the retry with the whole one from running.
 */
function isForPartOfUpload({ recording }: Run, { response }: Extract<Ending, { kind: 'complete' }>): boolean {
  return recording.isUploadBrokenOff && (response?.status ?? 0) >= 400;
}

function settle(exchange: Exchange, attempt: Attempt, run: Run, kept: Kept): Awaitable<Settlement> {
  const { options, stores } = exchange;
  switch (kept.kind) {
    case 'nothing':
      run.lease.giveBack();
      return release(exchange, attempt, run);
    case 'record':
      return publish(attempt, undefined, options, stores, run.renewal.until);
    case 'response':
      return publish(attempt, kept.response, options, stores, run.renewal.until);
  }
}

/**
 * Gives the lease back. If it has expired and is not ours any more, another run may have published its response, and
 * then a response that we chose not to store must not be sent. (If the store cannot be asked, the work is done all the
 * same, and its response is sent.)
 */
async function release({ stores }: Exchange, attempt: Attempt, { renewal }: Run): Promise<Settlement> {
  const isExpired = performance.now() >= renewal.until;
  try {
    const wasOurs = await stores.release(attempt);
    return { kind: isExpired && !wasOurs ? 'lost' : 'released' };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/** Lets the response be taken back if none of it was sent; closes the connection otherwise. */
function overtaken(
  { reporter }: Exchange,
  { recording, lease }: Run,
  ending: Ending,
  handlerMs: number,
): Ran | Overtaken {
  if (!lease.isLost) reporter.reportLostLease();
  if (ending.kind === 'complete' && recording.canBeReplaced) {
    recording.withhold();
    const takeBack = (): void => {
      recording.discard();
    };
    return { kind: 'overtaken', takeBack };
  }
  const sendEnd = (): void => {
    recording.abort();
  };
  return { kind: 'ran', result: { kind: 'overtaken', handlerMs }, sendEnd };
}

/** Makes the result of a run that was not overtaken. */
function resultOf(
  settlement: Exclude<Settlement, { kind: 'lost' }>,
  kept: Kept,
  { verdict: { refusal } }: Run,
  { status, handlerMs }: { readonly status: number; readonly handlerMs: number },
): RunResult {
  switch (settlement.kind) {
    case 'published':
      return { kind: kept.kind === 'response' ? 'executed' : 'not-stored', status, handlerMs };
    case 'failed':
      return { kind: 'not-stored', status, handlerMs, error: settlement.error };
    case 'released':
      // A later middleware has refused the request, or the handler or `shouldCache` wants nothing to be kept.
      if (!refusal) return { kind: 'not-stored', status, handlerMs };
      if (refusal.reason instanceof ClientGone) return { kind: 'abandoned' };
      return { kind: 'refused', status, error: refusal.reason };
  }
}

/** Lets the end of the response go to the client; closes the connection of one that was cut off. */
function endResponse(recording: Recording, res: ServerResponse, ending: Ending, isStored: boolean): void {
  if (ending.kind === 'cut-off') {
    recording.abort();
    return;
  }
  try {
    recording.finish(isStored);
  } catch (error) {
    // An earlier middleware has thrown at the end of the response.
    if (recording.canBeReplaced || !res.headersSent) recording.discard();
    else recording.abort();
    throw error;
  }
}
