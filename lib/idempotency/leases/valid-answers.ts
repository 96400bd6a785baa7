import { inspect } from 'node:util';
import { warnOnce } from '../../warnings/warn-once';
import type { Acquisition } from './lease-store';

/**
 * Returns the answer of `acquire`, which may come from an application's own lease store. Its `msLeft` may be missing,
 * or a column of 64 bits, of which drivers make a bigint or text.
 * @throws TypeError for anything that is not an acquisition.
 */
export function validAcquisition(answer: Acquisition): Acquisition {
  const { kind, token, msLeft } = Object(answer) as { readonly [name in 'kind' | 'token' | 'msLeft']?: unknown };
  if (kind === 'running' && typeof token === 'string') return { kind, token, msLeft: Number(msLeft) };
  if (kind === 'acquired' || (kind === 'done' && typeof token === 'string')) return answer;
  throw invalid('acquire', answer, "{ kind: 'acquired' }, or kind 'running' or 'done' with its token");
}

/**
 * Returns the answer of `complete`. The handler has run, so a missing answer must not make it run again. Any falsy
 * answer except `undefined` (a missing `return`) says that another request has the lease.
 */
export function validCompletion(answer: unknown): boolean {
  if (typeof answer !== 'boolean')
    warnOnce('BINDONCE_LEASE_ANSWER', `idempotency: ${invalid('complete', answer, 'true or false').message}`);
  return answer === undefined || Boolean(answer);
}

function invalid(method: string, answer: unknown, expected: string): TypeError {
  return new TypeError(
    `leases.${method}() answered ${inspect(answer).slice(0, 80)} instead of ${expected}. ` +
      'Check the lease store with leaseStoreContract of bindonce/testing.',
  );
}
