import type { Attempt } from './exchange/attempt';
import type { Decision } from './decide';
import { outcomeIfUnanswerable, type Exchange } from './exchange/exchange';
import { localRun } from './leases/local-runs';
import type { Outcome } from './outcome';

/** A decision by which the handler does not run, or not again. */
type NotAcquired = Exclude<Decision, { readonly kind: 'acquired' }>;

/** Finds the outcome of a request whose handler does not run. */
export async function outcomeWithoutRun(exchange: Exchange, attempt: Attempt, decision: NotAcquired): Promise<Outcome> {
  const outcome = await outcomeOf(decision, exchange, attempt);
  return outcomeIfUnanswerable(exchange) ?? outcome;
}

async function outcomeOf(decision: NotAcquired, { options, stores }: Exchange, attempt: Attempt): Promise<Outcome> {
  const { key, cacheKey } = attempt;
  switch (decision.kind) {
    case 'done':
      try {
        const response = await stores.read({ cacheKey, token: decision.token });
        return response ? { kind: 'replayed', response, waited: decision.waited } : { kind: 'response-unavailable' };
      } catch (error) {
        return { kind: 'store-unavailable', hasRun: true, error };
      }
    case 'running':
      return { kind: 'in-flight', msLeft: decision.msLeft };
    case 'key-reused':
      return decision;
    case 'store-unavailable': {
      const { error, wasRunning } = decision;
      // This process may know of a run that the store cannot tell of.
      const known = localRun(cacheKey, options.leases);
      const isDone = known?.phase === 'storing';
      return isDone || known || wasRunning || options.whenStoreFails === 'reject'
        ? { kind: 'store-unavailable', error, hasRun: isDone }
        : { kind: 'unguarded', error, key, cacheKey };
    }
  }
}
