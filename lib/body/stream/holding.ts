import type { IncomingMessage, ServerResponse } from 'node:http';
import { oneInProcess } from '../../basics/one-in-process';
import { memoryBound } from '../../basics/process-memory';
import { onExchangeEnd } from '../../http/exchange-end';
import { Problem } from '../../problems/problem';
import { ClientGone } from '../../http/client-gone';

/** The place where the bytes of a body are held until its exchange is over. The files of a RAM disk take memory. */
export type HeldIn = 'memory' | 'ramDisk' | 'disk';

/** The bytes that all requests of this process hold together, and their bounds. */
interface Held {
  readonly bytes: Record<HeldIn, number>;
  readonly bounds: Record<HeldIn, number>;
}

const GIB = 1_073_741_824;

/**
 * @internal The bounds of the whole process: 256 MiB in memory, or an eighth of what it may use; 2 GiB on a RAM disk
 * and in memory together, or a quarter; 2 GiB on disk. (A byte in memory takes two and more: multer joins the chunks of
 * a file, and buffers wait for the garbage collector. With a quarter of 256 MiB, uploads of 10 MiB got node killed.)
 */
export const held = oneInProcess<Held>('held', () => ({
  bytes: { memory: 0, ramDisk: 0, disk: 0 },
  bounds: { memory: memoryBound(GIB / 4, 1 / 8), ramDisk: memoryBound(2 * GIB, 1 / 4), disk: 2 * GIB },
}));

/** Bytes that each request may always hold: a few clients with large uploads must not shut out all others. */
export const ALWAYS_HELD = 65_536;

/** The bytes that one request holds. */
export class Holding {
  private readonly bytes: Record<HeldIn, number> = { memory: 0, ramDisk: 0, disk: 0 };
  private isOver = false;
  private isKept = false;

  /**
   * Counts bytes as held.
   * @throws Problem with status 503 when all requests of the process together would hold too much; ClientGone when the
   * exchange is over, since the bytes are not needed any more.
   */
  take(where: HeldIn, bytes: number): void {
    if (this.isOver) throw new ClientGone();
    this.bytes[where] += bytes;
    held.bytes[where] += bytes;
    if (areWithinBounds(where) || this.bytes[where] <= ALWAYS_HELD) return;
    // At once: until its file is closed, all other requests that are arriving would be refused, too.
    this.giveBack();
    throw new Problem('server-busy', 'The server has too many large requests to take this one. Retry later.', {
      headers: { 'Retry-After': '10' },
    });
  }

  /** Gives back the bytes in memory, for example once they are on disk. */
  giveBackMemory(): void {
    this.giveBackFrom('memory');
  }

  /** Keeps the bytes counted when the exchange is over, until `giveBack()`. */
  keep(): void {
    this.isKept = true;
  }

  /** Ends the holding when the exchange is over: gives back the bytes that are not kept. */
  end(): void {
    this.isOver = true;
    if (!this.isKept) this.giveBack();
  }

  /** Gives back all bytes, and refuses more. */
  giveBack(): void {
    this.isOver = true;
    this.giveBackFrom('memory');
    this.giveBackFrom('ramDisk');
    this.giveBackFrom('disk');
  }

  private giveBackFrom(where: HeldIn): void {
    held.bytes[where] -= this.bytes[where];
    this.bytes[where] = 0;
  }
}

/** Returns true if all requests together hold no more than they may in this place. */
function areWithinBounds(where: HeldIn): boolean {
  const { bytes, bounds } = held;
  return bytes[where] <= bounds[where] && (where === 'disk' || bytes.memory + bytes.ramDisk <= bounds.ramDisk);
}

/**
 * Makes a holding that ends with the exchange.
 * @param then called after that. (A listener of its own would take 1 µs for each request.)
 */
export function holdingOf(req: IncomingMessage, res: ServerResponse, then?: () => void): Holding {
  const holding = new Holding();
  onExchangeEnd(req, res, () => {
    holding.end();
    then?.();
  });
  return holding;
}
