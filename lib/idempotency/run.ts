import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import { giveUp } from './acquire';
import { withinDeadline } from './deadline';
import type { Claim, Exchange } from './exchange';
import type { Settings } from './options';
import type { RecordedResponse } from './responses/recorded-response';
import { record } from './responses/recorder';
import type { Ending, Recording } from './responses/recording';
import { keepRenewing, type Renewal } from './leases/renewal';

/** What a handler sees of the guard around it. */
export interface RequestIdempotency {
  /** The idempotency key that the client sent. */
  readonly key: string;
  /** What the response is kept under; `purge()` takes it. */
  readonly cacheKey: string;
  /** Aborts when the lease is lost: another request may run the handler from then on. */
  readonly signal: AbortSignal;
  /** "Nothing happened here": the response is sent but not stored, and a retry runs the handler again. */
  forget(): void;
}

/** How a run ended for those who come after it. */
type Publication =
  | { readonly kind: 'published' }
  /** Nothing is kept, on purpose; the key is free again. */
  | { readonly kind: 'forgotten' }
  /** The store failed; the lease is left to run out. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Another request has taken the lease. */
  | { readonly kind: 'lost' };

/**
 * Runs the handler under the lease and records its response. The end of the response is released only when the response
 * is stored and the lease completed: a client that has seen it can retry for ever within `cacheDuration`.
 * @param asked when the lease was asked for, in milliseconds of the monotonic clock.
 * @returns false when the lease was lost to another request and this response must not be shown; `res` is bare again then.
 */
export async function runAndRecord({ req, res, next, key, caller, claim, settings, tell }: Exchange, asked: number): Promise<boolean> {
  const lost = new AbortController();
  const handler = { forgot: false };
  const recording = record(req, res, settings);
  const guard: RequestIdempotency = {
    key, cacheKey: claim.cacheKey, signal: lost.signal,
    forget() {
      handler.forgot = true;
      recording.reportDeparture();
    },
  };
  Object.assign(req, { idempotency: guard });
  echoKey(req, res, settings);
  const renewal = keepRenewing(claim, settings, asked, () => {
    lost.abort(new Error('The idempotency lease was lost'));
    recording.reportDeparture();
    tell('lease-lost');
  });
  const begun = performance.now();
  try {
    next();
  } catch (error) {
    // Express catches what a handler throws; elsewhere it comes out here.
    renewal.stop();
    recording.withdraw();
    await giveUp(claim, settings).catch(() => undefined);
    throw error;
  }
  const recorded = await recording.ending;
  // The next request with this key may be of someone else than this response: it is not kept, and the handler has run.
  const ending: Ending = recorded.kind === 'complete' && caller.hasAppeared() ? { kind: 'complete', response: undefined } : recorded;
  const handlerMs = performance.now() - begun;
  const keep = ending.kind === 'complete' && !handler.forgot && wanted(ending.response, req, settings);
  const hasRunOut = renewal.hasRunOut();
  if (!keep) renewal.stop();
  const publication = keep ? await publish(claim, ending.response, settings, renewal) : await forget(claim, settings);
  renewal.stop();
  const status = ending.kind === 'complete' && ending.response ? ending.response.status : res.statusCode;
  if (publication.kind === 'lost') {
    if (!lost.signal.aborted) tell('lease-lost');
  } else if (publication.kind === 'published' && ending.kind === 'complete' && ending.response) tell('executed', { status, handlerMs });
  else tell('not-stored', { status, handlerMs, ...(publication.kind === 'failed' && { error: publication.error }) });
  // An answer that was not to be kept has no say where another run may have given one. (Where the store cannot be asked, the
  // work is done all the same, and its answer goes out.)
  const isOvertaken = publication.kind === 'lost' || (hasRunOut && publication.kind === 'forgotten');
  try {
    return hand(recording, ending.kind === 'cut-off', isOvertaken);
  } catch (error) {
    // A middleware below has thrown at the end of the response.
    if (recording.canBeReplaced || !res.headersSent) recording.withdraw();
    else recording.cut();
    throw error;
  }
}

/** Lets the response go, or takes it back: an answer that another run has overtaken is not shown as the answer. */
function hand(recording: Recording, cutOff: boolean, isOvertaken: boolean): boolean {
  if (cutOff) recording.cut();
  else if (!isOvertaken) recording.release();
  else if (recording.canBeReplaced) {
    recording.withdraw();
    return false;
  } else recording.cut();
  return true;
}

/** The response goes first, under the run's own token; completing the lease is what publishes it. */
async function publish({ cacheKey, token }: Claim, response: RecordedResponse | undefined, settings: Settings, renewal: Renewal): Promise<Publication> {
  const { leases, responses, cacheDuration, storeTimeout } = settings;
  try {
    if (response) await withinDeadline(() => responses.write(cacheKey, token, response, cacheDuration + outliving(settings)), storeTimeout);
    // Not before: the writing may take longer than the lease. Not after: a completed lease cannot be renewed.
    renewal.stop();
    const completed = await withinDeadline(() => leases.complete(cacheKey, token, cacheDuration), storeTimeout);
    return { kind: completed ? 'published' : 'lost' };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/**
 * Milliseconds by which a response outlives the record of its run: from its writing to the completion of the lease, from the
 * reading of the record to the reading of the response, and the difference between two machines' clocks (Keyv compares wall clocks).
 */
const outliving = ({ storeTimeout }: Settings): number => 2 * storeTimeout + 10_000;

async function forget(claim: Claim, settings: Settings): Promise<Publication> {
  try {
    await giveUp(claim, settings);
    return { kind: 'forgotten' };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/** The response has ended: there is no error handler left that an exception could go to, and storing is the safe side. */
function wanted(response: RecordedResponse | undefined, req: IncomingMessage, { shouldCache }: Settings): boolean {
  try {
    // A response too large to keep cannot be shown to `shouldCache`; that the handler ran is kept all the same.
    return response === undefined || shouldCache(response, req as Request);
  } catch (error) {
    process.emitWarning(`bindonce: shouldCache threw, and the response is stored: ${String(error)}`);
    return true;
  }
}

/** Set before the handler runs, so that it is part of the response that is stored. */
function echoKey(req: IncomingMessage, res: ServerResponse, { addHeaderToResponse, headerName }: Settings): void {
  const sent = req.headers[headerName.toLowerCase()];
  if (addHeaderToResponse && !res.hasHeader(headerName) && sent !== undefined) res.setHeader(headerName, sent);
}
