import type { Move } from './lease-model';

const HOLDERS = ['a', 'b', 'c'] as const;
const STEPS = ['acquire', 'renew', 'complete', 'release'] as const;

/**
 * Generates every order in which three holders can take `depth` steps and time can pass. Holders are named in the order
 * in which they come, so that no sequence differs from another in names only.
 */
export function* moveSequences(depth: number, holders = 0): Generator<readonly Move[]> {
  if (depth === 0) {
    yield [];
    return;
  }
  for (const rest of moveSequences(depth - 1, holders)) yield [{ step: 'expire' }, ...rest];
  for (const [index, token] of HOLDERS.slice(0, holders + 1).entries()) {
    for (const step of STEPS)
      for (const rest of moveSequences(depth - 1, Math.max(holders, index + 1))) yield [{ step, token }, ...rest];
  }
}
