import { isExchangeOver } from '../http/exchange-end';
import { Problem } from '../problems/problem';
import { withinDeadline, type StoreTimeout } from './deadline';
import type { Exchange } from './exchange';
import type { RecordedResponse } from './responses/recorded-response';
import { replay } from './responses/replay';
import { leaveUnguarded } from './unguarded';

/** Replays what an earlier run of the same request was answered with. */
export async function answerStored(
  exchange: Exchange,
  { token, waited }: { readonly token: string; readonly waited: boolean },
): Promise<void> {
  const { req, res, claim, settings, tell } = exchange;
  const expected = { method: req.method, maxBytes: settings.maxResponseBytes };
  const read = (): Promise<RecordedResponse | undefined> =>
    settings.responses.read(claim.cacheKey, token, expected, settings.storeTimeout);
  const response = await withinDeadline(read, settings.storeTimeout).catch((error: unknown) => {
    tell('store-failed', { status: 503, error });
    throw unreadable(error);
  });
  if (!response) {
    tell('conflicted', { status: 409 });
    throw new Problem(
      'response-unavailable',
      'The request was executed before and is not executed again, but its response could not be kept.',
    );
  }
  if (isExchangeOver(req, res)) {
    tell('abandoned');
    return;
  }
  replay(response, req, res, settings.replayedHeader);
  tell(waited ? 'waited' : 'replayed', { status: response.status });
}

/** @param msLeft milliseconds that are left of the lease of the running request: its answer is there by then, or another may run. */
export function inFlight({ tell }: Exchange, msLeft: number): Problem {
  tell('conflicted', { status: 409 });
  // A lease store of the application's own may know no number.
  const seconds = Math.ceil(msLeft / 1_000) || 1;
  return new Problem(
    'request-in-flight',
    'The first request with this idempotency key is still being processed. Retry later.',
    {
      headers: { 'Retry-After': String(Math.max(1, seconds)) },
    },
  );
}

/** The store failed before the handler ran: refuse, or run without the guarantee where the application prefers that. */
export function withoutStore({ req, next, key, claim, settings }: Exchange, error: StoreTimeout): void {
  if (settings.whenStoreFails === 'reject') throw storeUnavailable('Nothing was executed for this attempt', error);
  leaveUnguarded(req, key, claim.cacheKey);
  next();
}

/** The store failed after the handler has run. */
export function unreadable(cause: unknown): Problem {
  return storeUnavailable(
    'The request was executed before and is not executed again, but its response cannot be read now',
    cause,
  );
}

function storeUnavailable(what: string, cause: unknown): Problem {
  const detail = `${what}, because the idempotency store is unavailable. Retry later with the same key.`;
  return new Problem('store-unavailable', detail, { headers: { 'Retry-After': '1' }, cause });
}
