import type { IncomingMessage, ServerResponse } from 'node:http';
import { processMemory } from '../../basics/process';
import { ClientGone, onExchangeEnd } from '../../http/exchange-end';
import { Problem } from '../../problems/problem';

/**
 * What a byte weighs where it is held until its exchange is over. One in memory takes two and more: multer joins the
 * chunks of a file, and buffers wait for the garbage collector. (With half of this weight, uploads of 10 MiB got node
 * killed in 256 MiB.)
 */
const WEIGHTS = { memory: 8, disk: 1 } as const;

export type HeldIn = keyof typeof WEIGHTS;

/**
 * @internal The weight of what all requests of this process hold together, and its bound: what the process may use, at
 * most 2 GiB. So they hold 256 MiB in memory at most, or an eighth of what it may use. Buffers are no part of V8's
 * heap, but what is made of them is (texts, trees, fields), and takes as much: so the limit of the heap counts, too.
 */
export const held = { weight: 0, bound: Math.min(2_147_483_648, processMemory) };

/** Bytes that each request may always hold: a few clients with large uploads must not shut out all others. */
const ALWAYS_HELD = 65_536;

/** The bytes that one request holds. */
export class Holding {
  private weight = 0;
  private isOver = false;

  /** Makes a holding that ends with the exchange. */
  static until(req: IncomingMessage, res: ServerResponse): Holding {
    const holding = new Holding();
    onExchangeEnd(req, res, () => {
      holding.end();
    });
    return holding;
  }

  /**
   * Counts bytes as held.
   * @throws Problem with status 503 when all requests of the process together would hold too much; ClientGone when the
   * exchange is over, since the bytes are not needed any more.
   */
  take(bytes: number, where: HeldIn): void {
    if (this.isOver) throw new ClientGone();
    this.weight += bytes * WEIGHTS[where];
    held.weight += bytes * WEIGHTS[where];
    if (held.weight <= held.bound || this.weight <= ALWAYS_HELD * WEIGHTS[where]) return;
    // At once: until its file is closed, all other requests that are arriving would be refused, too.
    this.giveBack();
    throw new Problem('server-busy', 'The server has too many large requests to take this one. Retry later.', {
      headers: { 'Retry-After': '10' },
    });
  }

  giveBack(): void {
    held.weight -= this.weight;
    this.weight = 0;
  }

  /** Gives back what is held, and refuses to hold more. */
  end(): void {
    this.isOver = true;
    this.giveBack();
  }
}
