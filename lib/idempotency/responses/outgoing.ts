import type { ServerResponse } from 'node:http';
import { contentFor } from '../../http/queued-content';
import type { FakedProgress } from './faked-progress';
import { FinishListeners } from './finish-listeners';
import type { HeaderLine } from './recorded-response';
import type { ResponseHead } from './response-head';
import type { Callback } from './response-parts';

/**
 * Sends a response through the methods that `res` has when this is made: node's, or those of an earlier middleware.
 */
export class Outgoing {
  /** True once bytes have gone to the client. */
  hasBegun = false;
  /** True once the end has been passed on; an earlier middleware may wait before it passes it on to node. */
  isEnding = false;
  private hasFinished = false;
  private readonly methods;
  private readonly finishListeners: FinishListeners;

  constructor(
    private readonly res: ServerResponse,
    private readonly faked: FakedProgress,
  ) {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- they are called with `res` as `this`.
    const { writeHead, write, end, flushHeaders, addTrailers, destroy, emit } = res;
    this.finishListeners = new FinishListeners(res);
    this.methods = { writeHead, write, end, flushHeaders, addTrailers, destroy, emit };
  }

  flushHeaders(head: ResponseHead): void {
    this.begin(head);
    this.methods.flushHeaders.call(this.res);
  }

  write(head: ResponseHead, bytes: Buffer, callback: Callback | undefined): boolean {
    this.begin(head);
    return this.writeContent(bytes, callback);
  }

  /** Takes back that the response has begun: its head could not be sent. */
  takeBackHead(): void {
    this.hasBegun = false;
  }

  /** Sends the rest of the content, and ends the response. */
  end(head: ResponseHead, rest: Buffer, callback: Callback | undefined): void {
    // As node does it; an earlier middleware may not pass a third argument on.
    if (callback) this.res.once('finish', callback);
    const isWritten = head.impliedBy === 'write' && !this.hasBegun;
    this.begin(head);
    if (isWritten) this.writeContent(rest, undefined);
    this.isEnding = true;
    if (isWritten || rest.length === 0) this.methods.end.call(this.res, undefined, 'utf8');
    else this.methods.end.call(this.res, ...contentFor(this.res, rest));
    this.faked.awaitEnd();
  }

  private writeContent(bytes: Buffer, callback: Callback | undefined): boolean {
    const [content, encoding] = contentFor(this.res, bytes);
    // Earlier middlewares (compression) pass two arguments on; only text needs its encoding.
    const more = typeof content === 'string' ? [encoding, callback] : [callback ?? encoding];
    return this.writeAsGiven(content, ...more);
  }

  /** Calls the earlier `write` with these arguments, also for what the `end` of an earlier middleware writes. */
  writeAsGiven(...args: unknown[]): boolean {
    return Reflect.apply(this.methods.write, this.res, args) as boolean;
  }

  /** Calls the earlier `end` once more, while an earlier middleware has not passed the first call on to node. */
  endAgain(...args: unknown[]): ServerResponse {
    return Reflect.apply(this.methods.end, this.res, args) as ServerResponse;
  }

  addTrailers(lines: readonly HeaderLine[]): void {
    this.methods.addTrailers.call(this.res, lines as [string, string][]);
  }

  destroy(error?: Error): void {
    this.faked.allowClosing();
    this.methods.destroy.call(this.res, error);
  }

  /** Emits `finish`, unless node has, although not all of the response has reached the client. */
  finish(): void {
    if (this.hasFinished) return;
    this.faked.pretendFinished();
    this.emit('finish');
  }

  emit(event: string, ...args: unknown[]): boolean {
    if (event === 'finish') this.hasFinished = true;
    return this.methods.emit.call(this.res, event, ...args);
  }

  /** Gives the methods back to `res`. */
  putBack(): void {
    Object.assign(this.res, this.methods);
    this.finishListeners.putBack();
  }

  /**
   * Writes the held head, as it was when the handler wrote it. An implicit head is left to the first `write` or to
   * `end`: until then, earlier middlewares may add to it, or change the content and its length.
   */
  private begin({ status, reason = '', isImplied }: ResponseHead): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.faked.restoreHead();
    this.res.statusCode = status;
    this.res.statusMessage = reason;
    if (isImplied) this.res.writeHead = this.methods.writeHead;
    else this.methods.writeHead.call(this.res, status);
  }
}
