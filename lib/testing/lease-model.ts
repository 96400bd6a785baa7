import type { Acquisition } from '../idempotency/leases/lease-store';

/** The state of one key. */
export type LeaseState = { readonly kind: 'free' } | { readonly kind: 'running' | 'done'; readonly token: string };

/** One call by one holder, or the passing of time. */
export type Move =
  { readonly step: 'acquire' | 'renew' | 'complete' | 'release'; readonly token: string } | { readonly step: 'expire' };

/** An {@link Acquisition} without its time, or what another step returns. */
export type Answer = boolean | { readonly kind: Acquisition['kind']; readonly token?: string } | undefined;

export const FREE: LeaseState = { kind: 'free' };

/** Returns what a move must answer, and the state that it must leave. */
export function play(state: LeaseState, move: Move): readonly [Answer, LeaseState] {
  if (move.step === 'expire') return [undefined, FREE];
  const { step, token } = move;
  const isFree = state.kind === 'free';
  const isOwn = !isFree && state.token === token;
  switch (step) {
    case 'acquire':
      if (isFree || (isOwn && state.kind === 'running')) return [{ kind: 'acquired' }, { kind: 'running', token }];
      return [{ kind: state.kind, token: state.token }, state];
    case 'renew':
      return [isOwn && state.kind === 'running', state];
    case 'complete':
      return isFree || isOwn ? [true, { kind: 'done', token }] : [false, state];
    case 'release':
      return isOwn ? [true, FREE] : [false, state];
  }
}
