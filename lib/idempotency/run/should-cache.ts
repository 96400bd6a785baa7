import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { Awaitable } from '../../basics/awaitable';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { TimedOut, withinTime } from '../store-calls/store-call';
import { warnOnce } from '../../warnings/warn-once';

/**
 * Asks `shouldCache`, for at most `storeTimeout`. Only `false` means no: the response has ended, so no error handler
 * could get an error any more, and storing is the safe side.
 */
export function isWanted(
  response: RecordedResponse,
  req: IncomingMessage,
  { shouldCache, storeTimeout }: ResolvedOptions,
): Awaitable<boolean> {
  return !shouldCache || answerOf(() => shouldCache(response, req as Request), storeTimeout);
}

async function answerOf(ask: () => unknown, storeTimeout: number): Promise<boolean> {
  try {
    const answer = await withinTime(ask(), storeTimeout);
    if (typeof answer !== 'boolean') {
      warn(`answered ${answer === null ? 'null' : `a value of type ${typeof answer}`} instead of true or false`);
    }
    return answer !== false;
  } catch (error) {
    warn(error instanceof TimedOut ? `did not answer within ${storeTimeout} ms` : `threw ${String(error)}`);
    return true;
  }
}

function warn(what: string): void {
  warnOnce(
    'BINDONCE_SHOULD_CACHE',
    `idempotency: shouldCache ${what}, and the response is stored. Correct shouldCache.`,
  );
}
