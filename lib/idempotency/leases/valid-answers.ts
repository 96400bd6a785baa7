import { inspect } from 'node:util';
import type { Acquisition } from './lease-store';

/** An answer with which a request goes on. */
export type KnownAcquisition = Exclude<Acquisition, { readonly kind: 'unknown' }>;

/**
 * Returns the answer of `acquire`, which may come from an application's own lease store. Its `msLeft` may be missing,
 * or a column of 64 bits, of which drivers make a bigint or text.
 * @throws TypeError for anything that is not an acquisition, or that was not asked for.
 */
export function validAcquisition(answer: Acquisition): KnownAcquisition {
  const { kind, token, msLeft } = Object(answer) as { readonly [name in 'kind' | 'token' | 'msLeft']?: unknown };
  if (kind === 'acquired') return { kind };
  if (kind === 'running' && typeof token === 'string') return { kind, token, msLeft: Number(msLeft) };
  if (kind === 'done' && typeof token === 'string') return { kind, token };
  throw invalid('acquire', answer, "{ kind: 'acquired' }, or kind 'running' or 'done' with its token");
}

/** Returns the answer of `complete`. @throws TypeError for a missing `return`, or a number of rows. */
export function validCompletion(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer;
  throw invalid('complete', answer, 'true or false');
}

function invalid(method: string, answer: unknown, expected: string): TypeError {
  return new TypeError(
    `leases.${method}() answered ${inspect(answer).slice(0, 80)} instead of ${expected}. ` +
      'Check the lease store with leaseStoreContract of bindonce/testing.',
  );
}
