import type { ServerResponse } from 'node:http';

type FinishListener = (error: Error | null, res: ServerResponse) => void;

/** What on-finished (from 2.0 on) keeps on a response. */
interface WithListeners {
  __onFinished?: { queue: FinishListener[] | null } | null;
}

/**
 * The listeners that on-finished gets for a response while its handler runs; `res.sendFile` adds two. By itself,
 * on-finished listens on `res.socket`, which node keeps, and tells them at once that the client has disconnected. Where
 * a response has a list of listeners already, it only adds to that: so this is the list, and they are told when `res`
 * emits `finish` or `close`. Those of earlier middlewares (morgan) stay in the list that they are in.
 */
export class FinishListeners {
  /** The name is that of on-finished. It makes a new list when this is null. */
  queue: FinishListener[] | null = [];
  private readonly earlier: WithListeners['__onFinished'];

  constructor(private readonly res: ServerResponse & WithListeners) {
    this.earlier = res.__onFinished;
    res.__onFinished = this;
  }

  /** Tells the listeners that the response is over. */
  tell(): void {
    const listeners = this.queue ?? [];
    this.queue = null;
    for (const listener of listeners) listener(null, this.res);
  }

  /** Gives the earlier list back to `res`, whose events are node's own from now on. */
  putBack(): void {
    this.res.__onFinished = this.earlier;
    const tell = this.tell.bind(this);
    this.res.once('finish', tell).once('close', tell);
  }
}
