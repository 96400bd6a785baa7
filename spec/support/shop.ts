import express from 'express';
import { idempotency, type IdempotencyEventKind, type IdempotencyOptions, type KeyvLike } from '../../lib';
import { EventLog } from './event-log';
import { listen, send, type Listening, type WireResponse } from './listen';
import { keyed } from './replays';

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
  private readonly log = new EventLog();

  private constructor(
    private readonly store: Closable,
    private readonly listening: Listening,
  ) {}

  static async open(store: Closable, options: IdempotencyOptions = {}): Promise<Shop> {
    store.on('error', () => undefined);
    const app = express();
    const shop = new Shop(store, await listen(app));
    app.post('/', idempotency({ store, onEvent: shop.log.onEvent, ...options }), async (req, res) => {
      const { key, cacheKey } = req.idempotency;
      shop.runs.push(key);
      shop.cacheKeys.set(key, cacheKey);
      await shop.onRun(key);
      res.status(201).json({ key });
    });
    return shop;
  }

  order(key: string): Promise<WireResponse> {
    return send(this.listening.url, { headers: keyed(key) });
  }

  /** `ran`, `replayed`, or the status of a refusal. */
  async outcome(key: string): Promise<'ran' | 'replayed' | number> {
    const { status, headers } = await this.order(key);
    if (status !== 201) return status;
    return headers['idempotent-replayed'] === 'true' ? 'replayed' : 'ran';
  }

  /** What `onEvent` was told about a key. */
  kinds(key: string): IdempotencyEventKind[] {
    return this.log.events.filter(event => event.key === key).map(({ kind }) => kind);
  }

  /** Orders until it is not refused. */
  async outcomeInTheEnd(key: string): Promise<'ran' | 'replayed'> {
    for (;;) {
      const outcome = await this.outcome(key);
      if (typeof outcome === 'string') return outcome;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.listening.close(), this.store.disconnect()]);
  }
}
