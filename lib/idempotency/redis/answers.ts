import { bytesOfView } from '../../basics/bytes';
import type { Acquisition } from '../leases/lease-store';

/**
 * Reads the answer of the script `acquire`. Something that no script has written keeps the key in use, by a token that
 * cannot be one.
 * @throws Error for any other answer.
 */
export function acquisitionIn(answer: string): Acquisition {
  const [kind = '', ...rest] = answer.split(' ');
  switch (kind) {
    case 'acquired':
      return { kind };
    case 'done':
      return { kind, token: rest.join(' ') };
    case 'running':
      return { kind, msLeft: Math.max(0, wholeNumberIn(rest[0])), token: rest.slice(1).join(' ') };
    case 'damaged':
      return { kind: 'running', msLeft: 0, token: `${rest.join(' ')} (no lease)` };
    default:
      return unreadable(answer);
  }
}

/** Reads a yes or no. @throws Error for an answer that is neither 1 nor 0. */
export function isYes(answer: string): boolean {
  return answer === '1' || (answer !== '0' && unreadable(answer));
}

/** @throws Error for an answer that is not a whole number. */
export function wholeNumberIn(answer: unknown): number {
  const text = answerText(answer);
  return /^-?\d+$/.test(text) ? Number(text) : unreadable(text);
}

/**
 * Reads an answer as text. Clients can be configured to convert answers: numbers to text (`stringNumbers` of ioredis),
 * text to bytes (type mappings of node-redis). So every script returns one text, WAIT a number, and both are read here.
 */
export function answerText(answer: unknown): string {
  if (typeof answer === 'string') return answer;
  if (typeof answer === 'number' || typeof answer === 'bigint') return String(answer);
  if (ArrayBuffer.isView(answer)) return bytesOfView(answer).toString();
  return unreadable(answer === null ? 'null' : `a value of type ${typeof answer}`);
}

export function unreadable(answer: string, why = 'Pass a client that returns text and numbers.'): never {
  throw new Error(`bindonce: cannot read the answer of Redis to a lease script: ${answer.slice(0, 80)}. ${why}`);
}
