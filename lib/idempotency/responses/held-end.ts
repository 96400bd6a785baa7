import { AsyncResource } from 'node:async_hooks';
import type { Outgoing } from './outgoing';
import type { ResponseHead } from './response-head';
import type { Callback } from './response-parts';

/** The end of a response, as the handler wrote it. */
interface Ended {
  readonly head: ResponseHead;
  readonly callback: Callback | undefined;
  /** The handler's asynchronous context: listeners of `finish` and `close` find their AsyncLocalStorage in it. */
  readonly context: AsyncResource;
}

/** The end of a response, and the content that would complete it: held back until it may be sent. */
export class HeldEnd {
  private content: Buffer[] = [];
  private ended: Ended | undefined;

  get isWritten(): boolean {
    return this.ended !== undefined;
  }

  hold(bytes: Buffer): void {
    this.content.push(bytes);
  }

  /** Lets go of the content: it is of no use any more. */
  dropContent(): void {
    this.content = [];
  }

  /** Notes that the handler has ended its response. To be called in the handler's asynchronous context. */
  write(head: ResponseHead, callback: Callback | undefined): void {
    this.ended = { head, callback, context: new AsyncResource('bindonce') };
  }

  /**
   * Sends the content and the end, in the handler's asynchronous context; nothing if the handler has not ended.
   * @param then called after that, in the same context.
   */
  sendBy(outgoing: Outgoing, then: () => void): void {
    if (!this.ended) {
      then();
      return;
    }
    const { content } = this;
    const rest = content.length === 1 && content[0] ? content[0] : Buffer.concat(content);
    const { head, callback, context } = this.ended;
    context.runInAsyncScope(() => {
      outgoing.end(head, rest, callback);
      then();
    });
    context.emitDestroy();
  }
}
