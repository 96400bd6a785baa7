import type { IncomingMessage, ServerResponse } from 'node:http';
import { onExchangeEnd } from '../http/exchange-end';
import { Problem } from '../problems/problem';
import { ClientGone } from './errors';

/** Where the bytes of a body wait until its exchange is over. */
export type HeldIn = 'memory' | 'disk';

/** What all requests of this process hold together, and the most that they may hold, in bytes. */
interface Held {
  readonly bytes: Record<HeldIn, number>;
  readonly bounds: Record<HeldIn, number>;
}

/** Shared by every copy of this module in the process: the memory and the disk are shared, too. */
const HELD = Symbol.for('bindonce.held');

const GIB = 1_073_741_824;

/** @internal Of the whole process: 256 MiB in memory, 2 GiB on disk. */
export const held: Held = ((globalThis as { [HELD]?: Held })[HELD] ??= {
  bytes: { memory: 0, disk: 0 },
  bounds: { memory: GIB / 4, disk: 2 * GIB },
});

/** Bytes that a request may always hold: a few clients with large uploads must not shut out all others. */
const ALWAYS = 65_536;

/** What one request holds of its body. */
export class Holding {
  private readonly bytes: Record<HeldIn, number> = { memory: 0, disk: 0 };
  private isOver = false;

  /**
   * @throws Problem with status 503 when all requests of the process together would hold too much; ClientGone when the exchange
   * is over and the bytes would be held for nobody.
   */
  take(where: HeldIn, bytes: number): void {
    if (this.isOver) throw new ClientGone();
    this.bytes[where] += bytes;
    held.bytes[where] += bytes;
    if (held.bytes[where] <= held.bounds[where] || this.bytes[where] <= ALWAYS) return;
    throw new Problem('server-busy', 'The server has too many large requests to take this one; try again later.', {
      headers: { 'Retry-After': '10' },
    });
  }

  /** The bytes that were in memory are on disk now. */
  giveBackMemory(): void {
    held.bytes.memory -= this.bytes.memory;
    this.bytes.memory = 0;
  }

  giveBack(): void {
    this.isOver = true;
    this.giveBackMemory();
    held.bytes.disk -= this.bytes.disk;
    this.bytes.disk = 0;
  }
}

/** A holding that is given back at the latest when the exchange is over. */
export function holdingOf(req: IncomingMessage, res: ServerResponse): Holding {
  const holding = new Holding();
  onExchangeEnd(req, res, () => {
    holding.giveBack();
  });
  return holding;
}
