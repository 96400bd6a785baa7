import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone } from '../body/errors';
import { onRefusal } from '../problems/refuse';
import { giveUp } from './acquire';
import type { Exchange } from './exchange';
import type { Caller } from './identity/caller';
import { keepRenewing, type Renewal } from './renewal';
import type { Settings } from './options';
import { publish, type Publication } from './publish';
import { record } from './responses/recorder';
import type { Ending, Recording } from './responses/recording';
import { isWanted } from './should-cache';

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

/** What is known of a handler, and of the middlewares in front of it. */
interface Handler {
  /** True when nothing is to be kept. */
  forgot: boolean;
  /** Why a middleware has refused the request before it came to the handler. */
  refusal?: { readonly reason: unknown };
}

/** A handler that runs under a lease. */
interface Run {
  readonly recording: Recording;
  readonly renewal: Renewal;
  readonly lost: AbortSignal;
  /** In milliseconds of the monotonic clock. */
  readonly begun: number;
  readonly handler: Handler;
}

/** How a run ended for those who come after it. */
type Outcome =
  | Publication
  /** Nothing is kept, on purpose; `wasOurs` is false when the lease was not ours any more. */
  | { readonly kind: 'forgotten'; readonly wasOurs: boolean };

/**
 * Runs the handler under the lease and records its response. The end of the response is released only when the response
 * is stored and the lease completed: a client that has seen it can retry for ever within `cacheDuration`.
 * @param asked when the lease was asked for, in milliseconds of the monotonic clock.
 * @returns false when the lease was lost to another request and this response must not be shown; `res` is bare again
 * then.
 */
export async function runAndRecord(exchange: Exchange, asked: number): Promise<boolean> {
  const run = await begin(exchange, asked);
  const ending = ofKnownCaller(await run.recording.ending, run, exchange.caller);
  const handlerMs = performance.now() - run.begun;
  const keep = await isToBeKept(exchange, run, ending);
  run.renewal.stop();
  const { until } = run.renewal;
  const isExpired = performance.now() >= until;
  const outcome = keep
    ? await publish(exchange.claim, responseOf(ending), exchange.settings, until)
    : await forget(exchange);
  report(exchange, run, ending, outcome, handlerMs);
  // A response that was not to be stored must not be sent where another run may have published its own. (Where the
  // store cannot be asked, the work is done all the same, and its answer goes out.)
  const isOvertaken = outcome.kind === 'lost' || (isExpired && outcome.kind === 'forgotten' && !outcome.wasOurs);
  return handOver(run.recording, exchange.res, ending, isOvertaken);
}

/** Starts the handler. Where anything throws before that, the lease is given back. */
async function begin(exchange: Exchange, asked: number): Promise<Run> {
  const undo: (() => void)[] = [];
  try {
    return start(exchange, asked, undo);
  } catch (error) {
    // Express catches what a handler throws; elsewhere it comes out here, too.
    for (const step of undo.reverse()) step();
    await giveUp(exchange.claim, exchange.settings).catch(() => undefined);
    throw error;
  }
}

/** @param undo gets what takes back, in reverse order, what was set up. */
function start({ req, res, next, key, claim, settings, tell }: Exchange, asked: number, undo: (() => void)[]): Run {
  const lost = new AbortController();
  const handler: Handler = { forgot: false };
  const recording = record(req, res, settings);
  undo.push(() => {
    recording.withdraw();
  });
  const guard: RequestIdempotency = {
    key,
    cacheKey: claim.cacheKey,
    signal: lost.signal,
    forget() {
      handler.forgot = true;
      recording.reportDeparture();
    },
  };
  Object.assign(req, { idempotency: guard });
  onRefusal(req, reason => {
    handler.refusal = { reason };
    guard.forget();
  });
  echoKey(req, res, settings);
  const renewal = keepRenewing(claim, settings, asked, () => {
    lost.abort(new Error('The idempotency lease was lost'));
    recording.reportDeparture();
    tell('lease-lost');
  });
  undo.push(() => {
    renewal.stop();
  });
  const begun = performance.now();
  next();
  return { recording, renewal, lost: lost.signal, begun, handler };
}

/** The next request with this key may be of someone else than this response: it is not kept, and the handler has run. */
function ofKnownCaller(ending: Ending, { handler }: Run, caller: Caller): Ending {
  const isOfAnother = ending.kind === 'complete' && !handler.forgot && caller.hasAppeared();
  return isOfAnother ? { kind: 'complete', response: undefined } : ending;
}

async function isToBeKept({ req, settings }: Exchange, { handler }: Run, ending: Ending): Promise<boolean> {
  return ending.kind === 'complete' && !handler.forgot && isWanted(ending.response, req, settings);
}

async function forget({ claim, settings }: Exchange): Promise<Outcome> {
  try {
    return { kind: 'forgotten', wasOurs: await giveUp(claim, settings) };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

function report(
  { res, tell }: Exchange,
  { lost, handler: { refusal } }: Run,
  ending: Ending,
  outcome: Outcome,
  handlerMs: number,
): void {
  const response = responseOf(ending);
  const about = { status: response?.status ?? res.statusCode, handlerMs };
  switch (outcome.kind) {
    case 'lost':
      if (!lost.aborted) tell('lease-lost');
      return;
    case 'published':
      return tell(response ? 'executed' : 'not-stored', about);
    case 'forgotten':
      if (refusal?.reason instanceof ClientGone) tell('abandoned');
      else if (refusal) tell('refused', { status: about.status, error: refusal.reason });
      else tell('not-stored', about);
      return;
    case 'failed':
      return tell('not-stored', { ...about, error: outcome.error });
  }
}

/**
 * Lets the response go, or takes it back: an answer that another run has overtaken is not shown as the answer.
 * @returns false when it was taken back.
 */
function handOver(recording: Recording, res: ServerResponse, ending: Ending, isOvertaken: boolean): boolean {
  const isReplaced = ending.kind === 'complete' && isOvertaken && recording.canBeReplaced;
  try {
    if (isReplaced) recording.withdraw();
    else if (ending.kind === 'cut-off' || isOvertaken) recording.cut();
    else recording.release();
    return !isReplaced;
  } catch (error) {
    // A middleware below has thrown at the end of the response.
    if (recording.canBeReplaced || !res.headersSent) recording.withdraw();
    else recording.cut();
    throw error;
  }
}

const responseOf = (ending: Ending) => (ending.kind === 'complete' ? ending.response : undefined);

/**
 * RFC 9110, section 5.5: what a header of a response may hold. Node accepts more from clients, and so may middlewares
 * before us.
 */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Set before the handler runs, so that it is part of the response that is stored. A key that a header cannot carry is
 * not echoed.
 */
function echoKey(req: IncomingMessage, res: ServerResponse, { addHeaderToResponse, headerName }: Settings): void {
  const sent: unknown = req.headers[headerName.toLowerCase()];
  if (!addHeaderToResponse || res.hasHeader(headerName)) return;
  if (typeof sent === 'string' && HEADER_VALUE.test(sent)) res.setHeader(headerName, sent);
}
