import type { Acquisition } from '../idempotency/leases/lease-store';

/** The state of one key. */
export type LeaseState = { readonly kind: 'free' } | { readonly kind: 'running' | 'done'; readonly token: string };

/** One call by one holder. */
export interface Step {
  readonly step: 'acquire' | 'renew' | 'complete' | 'release';
  readonly token: string;
}

/** One call, or the passing of time. */
export type Move = Step | { readonly step: 'expire' };

/** An {@link Acquisition} without its time, or what another step returns. */
export type Answer = boolean | { readonly kind: Acquisition['kind']; readonly token?: string } | undefined;

export const FREE: LeaseState = { kind: 'free' };
export const STEPS = ['acquire', 'renew', 'complete', 'release'] as const;

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

/** Returns all steps of these holders. */
export const stepsOf = (tokens: readonly string[]): Step[] =>
  tokens.flatMap(token => STEPS.map(step => ({ step, token })));

/**
 * Generates every order in which three holders can take `depth` steps and time can pass. Holders are named in the order
 * in which they come, so that no sequence differs from another in names only.
 * @param holders that have come already.
 */
export function* moveSequences(depth: number, holders = 0): Generator<readonly Move[]> {
  if (depth === 0) {
    yield [];
    return;
  }
  for (const rest of moveSequences(depth - 1, holders)) yield [{ step: 'expire' }, ...rest];
  for (const [index, token] of ['a', 'b', 'c'].slice(0, holders + 1).entries()) {
    for (const step of stepsOf([token]))
      for (const rest of moveSequences(depth - 1, Math.max(holders, index + 1))) yield [step, ...rest];
  }
}
