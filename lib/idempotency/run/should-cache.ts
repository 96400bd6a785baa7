import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { Awaitable } from '../../basics/awaitable';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { TimedOut, withinTime } from '../store-calls/running-time';
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
  return !shouldCache || answerOf(() => shouldCache(frozen(response), req as Request), storeTimeout);
}

/**
 * Freezes a response, so that a function that changes it by mistake does not change what is stored. Bytes cannot be
 * frozen, so the function gets a copy of them.
 */
function frozen(response: RecordedResponse): RecordedResponse {
  for (const lines of [response.headers, response.trailers]) {
    for (const [, value] of lines) Object.freeze(value);
    lines.forEach(Object.freeze);
    Object.freeze(lines);
  }
  return Object.freeze({ ...response, body: Buffer.from(response.body) });
}

async function answerOf(ask: () => unknown, storeTimeout: number): Promise<boolean> {
  try {
    const answer = await withinTime(ask, storeTimeout);
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
