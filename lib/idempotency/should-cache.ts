import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { onceWithinDeadline, StoreTimeout } from './deadline';
import type { Settings } from './options';
import type { RecordedResponse } from './responses/recorded-response';

/**
 * Asks `shouldCache`, for at most `storeTimeout`. Only `false` means no: the response has ended, so there is no error
 * handler left that a mistake could go to, and storing is the safe side.
 * @param response undefined for one that is too large to keep and to be shown: that the handler ran is kept all the
 * same.
 */
export async function isWanted(
  response: RecordedResponse | undefined,
  req: IncomingMessage,
  { shouldCache, storeTimeout }: Settings,
): Promise<boolean> {
  if (!response) return true;
  try {
    const ask = (): unknown => shouldCache(response, req as Request);
    const answer = await onceWithinDeadline(ask, storeTimeout);
    if (typeof answer !== 'boolean') {
      warn(`answered ${answer === null ? 'null' : `a value of type ${typeof answer}`} instead of true or false`);
    }
    return answer !== false;
  } catch (error) {
    warn(error instanceof StoreTimeout ? `did not answer within ${storeTimeout} ms` : `threw ${String(error)}`);
    return true;
  }
}

function warn(what: string): void {
  process.emitWarning(`bindonce: shouldCache ${what}, and the response is stored`, { code: 'BINDONCE_SHOULD_CACHE' });
}
