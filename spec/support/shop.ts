import type { IdempotencyEventKind, IdempotencyOptions, KeyvLike } from '../../lib';
import { guarded } from './guarded';
import type { WireResponse } from './listen';

/** A Keyv, of whatever version. */
type Closable = KeyvLike & { disconnect(): Promise<void> };

/** An application that counts what it runs, for storylines in which its store fails. */
export class Shop {
  /** Idempotency keys, once for each run. */
  readonly runs: string[] = [];
  /** Cache keys by idempotency key. */
  readonly cacheKeys = new Map<string, string>();
  /** Told of each run before it is answered. */
  onRun: (key: string) => unknown = () => undefined;
  private served: Pick<Awaited<ReturnType<typeof guarded>>, 'post' | 'log'> | undefined;

  private constructor(private readonly store: Closable) {}

  static async open(store: Closable, options: IdempotencyOptions = {}): Promise<Shop> {
    store.on('error', () => undefined);
    const shop = new Shop(store);
    shop.served = await guarded({ store, ...options }, async (req, res) => {
      const { key, cacheKey } = req.idempotency;
      shop.runs.push(key);
      shop.cacheKeys.set(key, cacheKey);
      await shop.onRun(key);
      res.status(201).json({ key });
    });
    return shop;
  }

  /** `ran`, `replayed`, or the status of a refusal. */
  async outcome(key: string): Promise<'ran' | 'replayed' | number> {
    const { status, headers } = (await this.served?.post({ key })) as WireResponse;
    if (status !== 201) return status;
    return headers['idempotent-replayed'] === 'true' ? 'replayed' : 'ran';
  }

  /** What `onEvent` was told about a key. */
  kinds(key: string): IdempotencyEventKind[] {
    return (this.served?.log.events ?? []).filter(event => event.key === key).map(({ kind }) => kind);
  }

  /** Orders until it is not refused. */
  async outcomeInTheEnd(key: string): Promise<'ran' | 'replayed'> {
    for (;;) {
      const outcome = await this.outcome(key);
      if (typeof outcome === 'string') return outcome;
    }
  }

  async close(): Promise<void> {
    await this.store.disconnect();
  }
}
