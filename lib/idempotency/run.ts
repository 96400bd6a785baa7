import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, isPromise, type Awaitable } from '../basics/awaitable';
import { ClientGone } from '../http/client-gone';
import type { Attempt } from './attempt';
import type { Exchange } from './exchange';
import type { RunOutcome } from './outcome';
import { publish, type Publication } from './publish';
import type { RecordedResponse } from './responses/recorded-response';
import type { Ending, Recording } from './responses/recording';
import { isWanted } from './should-cache';
import { startHandler, type Run } from './start-handler';

/** The end of a lease: completed with a record, or given back if nothing is kept on purpose. */
type Settlement = Publication | { readonly kind: 'released' };

/**
 * Runs the handler under the lease and records its response. The end of the response is held back until the outcome is
 * answered, when the response is stored and the lease completed: a client that has seen the end can retry forever
 * within `cacheDuration`.
 * @param asked when the lease was asked for, in milliseconds of the monotonic clock.
 * @returns `overtaken` when another run's response counts and this one was taken back; `res` is as it was before then.
 */
export async function runAndRecord(
  exchange: Exchange,
  attempt: Attempt,
  asked: number,
): Promise<RunOutcome | 'overtaken'> {
  const started = startHandler(exchange, attempt, asked);
  const run = isPromise(started) ? await started : started;
  const ending = await run.recording.ending;
  const handlerMs = performance.now() - run.begun;
  const keeping = whatToKeep(exchange, attempt, run, ending);
  const kept = isPromise(keeping) ? await keeping : keeping;
  run.renewal.stop();
  if (!kept) run.lease.end();
  const settling = kept
    ? publish(attempt, kept.response, exchange.options, exchange.stores, run.renewal.until)
    : release(exchange, attempt, run);
  const settlement = isPromise(settling) ? await settling : settling;
  switch (settlement.kind) {
    case 'lost':
      return overtaken(exchange, run, ending, handlerMs);
    case 'published':
      return { kind: kept?.response ? 'executed' : 'not-stored', handlerMs, ...heldResponse(exchange, run, ending) };
    case 'failed':
      return { kind: 'not-stored', error: settlement.error, handlerMs, ...heldResponse(exchange, run, ending) };
    case 'released':
      return { ...outcomeOfReleased(run, handlerMs), ...heldResponse(exchange, run, ending) };
  }
}

/**
 * Decides what is stored: a response, only the record that the handler has run (`response` is undefined), or nothing.
 */
function whatToKeep(
  { req, options }: Exchange,
  { caller }: Attempt,
  { wishes }: Run,
  ending: Ending,
): Awaitable<{ readonly response: RecordedResponse | undefined } | undefined> {
  if (ending.kind === 'cut-off' || wishes.forget || isForPartOfUpload(req, ending)) return undefined;
  // If a caller has appeared since, the next request with this key may be another caller's.
  const response = caller.hasAppeared() ? undefined : ending.response;
  return after(isWanted(response, req, options), wanted => (wanted ? { response } : undefined));
}

/**
 * Returns true for an error after an upload that broke off, which only `ignoreRequestBody` lets a handler see. It is the
 * answer to a part of the body, and would keep the retry with the whole one from running.
 */
function isForPartOfUpload(req: IncomingMessage, { response }: Extract<Ending, { kind: 'complete' }>): boolean {
  return req.destroyed && !req.complete && (response?.status ?? 0) >= 400;
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

/** Takes the response back if none of it was sent. */
function overtaken(
  { reporter }: Exchange,
  { recording, lease }: Run,
  ending: Ending,
  handlerMs: number,
): RunOutcome | 'overtaken' {
  if (!lease.isLost) reporter.reportLostLease();
  if (ending.kind === 'complete' && recording.canBeReplaced) {
    recording.discard();
    return 'overtaken';
  }
  return {
    kind: 'overtaken',
    handlerMs,
    letGo: () => {
      recording.abort();
    },
  };
}

/**
 * Nothing is kept because a later middleware has refused the request, or because the handler or `shouldCache` wants it
 * so.
 */
function outcomeOfReleased({ wishes: { refusal } }: Run, handlerMs: number) {
  if (!refusal) return { kind: 'not-stored', handlerMs } as const;
  if (refusal.reason instanceof ClientGone) return { kind: 'abandoned' } as const;
  return { kind: 'refused', error: refusal.reason } as const;
}

/** Returns the status of the response, and the function that lets its end go. */
function heldResponse({ res }: Exchange, { recording }: Run, ending: Ending): { status: number; letGo: () => void } {
  const status = (ending.kind === 'complete' && ending.response?.status) || res.statusCode;
  const letGo = (): void => {
    sendEnd(recording, res, ending);
  };
  return { status, letGo };
}

/** Lets the end of the response go to the client; closes the connection of one that was cut off. */
function sendEnd(recording: Recording, res: ServerResponse, ending: Ending): void {
  if (ending.kind === 'cut-off') {
    recording.abort();
    return;
  }
  try {
    recording.finish();
  } catch (error) {
    // An earlier middleware has thrown at the end of the response.
    if (recording.canBeReplaced || !res.headersSent) recording.discard();
    else recording.abort();
    throw error;
  }
}
