import { Problem } from '../problems/problem';
import type { Exchange } from './exchange/exchange';
import type { Outcome } from './outcome';
import { echoKey } from './run/request-idempotency';
import { replay } from './run/replay';
import { leaveUnguarded } from './mounted';

/** Answers a request according to its outcome. @throws the problem, or the error, to refuse the request with. */
export function answer(outcome: Outcome, exchange: Exchange): void {
  const { req, res, next, options } = exchange;
  switch (outcome.kind) {
    case 'executed':
    case 'not-stored':
    case 'forgotten':
      return outcome.sendEnd();
    case 'abandoned':
      return outcome.sendEnd?.();
    case 'refused':
      if (!outcome.sendEnd) throw outcome.error;
      return outcome.sendEnd();
    case 'replayed':
      return replay(outcome.response, req, res, options.replayedHeader);
    case 'unguarded':
      echoKey(req, res, options);
      leaveUnguarded(req, res, options, outcome.key, outcome.cacheKey);
      return next();
    case 'in-flight':
      throw new Problem(
        'request-in-flight',
        'The first request with this idempotency key has not been answered yet. Retry later with the same key.',
        { headers: { 'Retry-After': String(wholeSeconds(outcome.msLeft)) } },
      );
    case 'key-reused':
      throw new Problem(
        'key-reused',
        'This idempotency key was used for a request with other values. Use a new key for a new request.',
      );
    case 'response-unavailable':
      throw new Problem(
        'response-unavailable',
        'The request was executed before and is not executed again, but its response is not available. Do not retry; ' +
          'look up the result.',
      );
    case 'store-unavailable': {
      const what = outcome.hasRun
        ? 'The request was executed before and is not executed again, but its response cannot be read now'
        : 'Nothing was executed for this attempt';
      throw new Problem(
        'store-unavailable',
        `${what}, because the idempotency store is unavailable. Retry later with the same key.`,
        { headers: { 'Retry-After': '1' }, cause: outcome.error },
      );
    }
  }
}

/** Rounds up to whole seconds, at least 1. An application's own lease store may return something else than a number. */
function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000) || 1);
}
