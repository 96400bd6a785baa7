import { inspect } from 'node:util';
import type { Acquisition } from './lease-store';

/**
 * Returns the answer of `acquire`, which may come from an application's own lease store.
 * @throws TypeError for anything that is not an acquisition.
 */
export function validAcquisition(answer: Acquisition): Acquisition {
  const { kind, token } = Object(answer) as { readonly kind?: unknown; readonly token?: unknown };
  if (kind === 'acquired' || ((kind === 'running' || kind === 'done') && typeof token === 'string')) return answer;
  throw invalid('acquire', answer, "{ kind: 'acquired' }, or kind 'running' or 'done' with its token");
}

/** Returns the answer of `complete`. @throws TypeError for anything but true or false. */
export function validCompletion(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer;
  throw invalid('complete', answer, 'true or false');
}

function invalid(method: string, answer: unknown, expected: string): TypeError {
  return new TypeError(
    `idempotency: leases.${method}() answered ${inspect(answer).slice(0, 80)} instead of ${expected}. ` +
      'Check the lease store with leaseStoreContract of bindonce/testing.',
  );
}
