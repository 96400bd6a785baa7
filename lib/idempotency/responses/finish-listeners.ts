import type { ServerResponse } from 'node:http';

type FinishListener = (error: Error | null, res: ServerResponse) => void;

/** What on-finished (from 2.0 on) keeps on a response. */
interface WithListeners {
  __onFinished?: { readonly queue: FinishListener[] | null } | null;
}

/**
 * The listeners that on-finished gets for a response while its handler runs; `res.sendFile` adds two. By itself,
 * on-finished listens on `res.socket`, which node keeps, and tells them at once that the client has disconnected. Where
 * a response has a list of listeners already, it only adds to that: so this is the list, and they are told when `res`
 * emits `finish` or `close`. Those of earlier middlewares (morgan) stay in the list that they are in.
 */
export class FinishListeners {
  private readonly earlier: WithListeners['__onFinished'];
  private listeners: FinishListener[] | null | undefined;

  constructor(private readonly res: ServerResponse & WithListeners) {
    this.earlier = res.__onFinished;
    res.__onFinished = this;
  }

  /** The name is that of on-finished, which looks here to add a listener, and makes a new list when this is null. */
  get queue(): FinishListener[] | null {
    if (this.listeners === undefined) {
      this.listeners = [];
      const tell = this.tell.bind(this);
      this.res.once('finish', tell).once('close', tell);
    }
    return this.listeners;
  }

  /** Gives the earlier list back to `res`. */
  putBack(): void {
    this.res.__onFinished = this.earlier;
  }

  /** Tells the listeners that the response is over. */
  private tell(): void {
    const listeners = this.listeners ?? [];
    this.listeners = null;
    for (const listener of listeners) listener(null, this.res);
  }
}
