import type { Acquisition } from '../leases/lease-store';

/** @throws Error for an answer that is none of the script `acquire`. */
export function acquisitionIn(answer: string): Acquisition {
  const [kind = '', ...rest] = answer.split(' ');
  switch (kind) {
    case 'acquired':
      return { kind };
    case 'done':
      return { kind, token: rest.join(' ') };
    case 'running':
      return { kind, msLeft: Math.max(0, wholeNumberIn(rest[0])), token: rest.slice(1).join(' ') };
    default:
      return unreadable(answer);
  }
}

/** @throws Error for an answer that is neither 1 nor 0. */
export function isYes(answer: string): boolean {
  return answer === '1' || (answer !== '0' && unreadable(answer));
}

/** @throws Error for an answer that is no whole number. */
export function wholeNumberIn(answer: unknown): number {
  const text = textOf(answer);
  return /^-?\d+$/.test(text) ? Number(text) : unreadable(text);
}

/**
 * Clients can be told what to make of an answer: numbers as text (`stringNumbers` of ioredis), text as bytes (type
 * mappings of node-redis). So every script answers one text, and WAIT a number, and both are read here as text.
 */
export function textOf(answer: unknown): string {
  if (typeof answer === 'string') return answer;
  if (typeof answer === 'number' || typeof answer === 'bigint') return String(answer);
  if (ArrayBuffer.isView(answer)) return Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString();
  return unreadable(answer === null ? 'null' : `a value of type ${typeof answer}`);
}

export function unreadable(answer: string, why = 'Pass a client that hands on text and numbers.'): never {
  throw new Error(`bindonce: the answer of Redis to a lease script cannot be read: ${answer.slice(0, 80)}. ${why}`);
}
