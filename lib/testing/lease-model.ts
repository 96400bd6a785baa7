import type { Acquisition } from '../idempotency/leases/lease-store';

/** The state of one key. */
export type LeaseState =
  { readonly kind: 'free' } | { readonly kind: 'running' | 'done' | 'unknown'; readonly token: string };

const STEPS = ['acquire', 'renew', 'complete', 'release'] as const;
const SETTLING = ['ran', 'did-not-run'] as const;

/** One call by one holder; the last two are those of `settle`. */
export interface Step {
  readonly step: (typeof STEPS | typeof SETTLING)[number];
  readonly token: string;
}

export const step = (name: Step['step'], token: string): Step => ({ step: name, token });

/** One call, or the passing of time. */
export type Move = Step | { readonly step: 'expire' };

/** An {@link Acquisition} without its time, or what another step returns. */
export type Answer = boolean | { readonly kind: Acquisition['kind']; readonly token?: string } | undefined;

export const FREE: LeaseState = { kind: 'free' };

/**
 * Returns what a move must answer, and the state that it must leave.
 * @param keeps whether leases are acquired with `keepUnknown`.
 */
export function play(state: LeaseState, move: Move, keeps: boolean): readonly [Answer, LeaseState] {
  const isUnknown = state.kind === 'unknown';
  if (move.step === 'expire') {
    const staysUnknown = keeps && (isUnknown || state.kind === 'running');
    return [undefined, staysUnknown ? { kind: 'unknown', token: state.token } : FREE];
  }
  const { step, token } = move;
  const isFree = state.kind === 'free';
  const isOwn = !isFree && state.token === token;
  switch (step) {
    case 'acquire':
      if (isFree || (isOwn && state.kind !== 'done')) return [{ kind: 'acquired' }, { kind: 'running', token }];
      return [{ kind: state.kind, token: state.token }, state];
    case 'renew':
      return [isOwn && state.kind === 'running', state];
    case 'complete':
      return isFree || isOwn ? [true, { kind: 'done', token }] : [false, state];
    case 'release':
      return isOwn ? [true, FREE] : [false, state];
    case 'ran':
      return isOwn && isUnknown ? [true, { kind: 'done', token }] : [false, state];
    case 'did-not-run':
      return isOwn && isUnknown ? [true, FREE] : [false, state];
  }
}

/** Returns all steps of these holders. */
export const stepsOf = (tokens: readonly string[], keeps = false): Step[] =>
  tokens.flatMap(token => [...STEPS, ...(keeps ? SETTLING : [])].map(name => step(name, token)));

/**
 * Generates every order in which three holders can take `depth` steps and time can pass. Holders are named in the order
 * in which they come, so that no sequence differs from another in names only.
 * @param holders that have come already.
 */
export function* moveSequences(depth: number, keeps = false, holders = 0): Generator<readonly Move[]> {
  if (depth === 0) {
    yield [];
    return;
  }
  for (const rest of moveSequences(depth - 1, keeps, holders)) yield [{ step: 'expire' }, ...rest];
  for (const [index, token] of ['a', 'b', 'c'].slice(0, holders + 1).entries()) {
    for (const step of stepsOf([token], keeps))
      for (const rest of moveSequences(depth - 1, keeps, Math.max(holders, index + 1))) yield [step, ...rest];
  }
}
