import { ServerResponse, type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http';
import { headersOf, type HeaderLine, type RecordedResponse } from './recorded-response';

/**
 * How a handler left its response.
 * - `complete`: it ended it; `response` is undefined where the body was too large to keep.
 * - `cut-off`: it destroyed it half-way.
 */
export type Ending = { readonly kind: 'complete'; readonly response: RecordedResponse | undefined } | { readonly kind: 'cut-off' };

/** A response under observation. After `ending`, exactly one of the three methods is to be called. */
export interface Recording {
  readonly ending: Promise<Ending>;
  /** False once bytes have gone to the client. */
  readonly canBeReplaced: boolean;
  /** True while nothing has been heard from the handler since the client went away. */
  readonly clientGone: boolean;
  /** Lets the end of the response go to the client. */
  release(): void;
  /** Takes the response back and hands out the bare one, as it was before the handler. */
  withdraw(): void;
  /** Closes the connection, so that the client cannot take what it has for a whole response. */
  cut(): void;
}

type Callback = (error?: Error | null) => void;
type Chunk = string | Uint8Array;
type HeadersArgument = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * Two properties by which node itself, and the middlewares around us, tell how far a response is. While the head and the end
 * are held back they are set as if both had gone out: `headersSent` and `writableEnded` are true, and a second response
 * fails as it would without us.
 */
interface Progress {
  _header: string | null;
  finished: boolean;
}

const HELD = 'held back by bindonce';

interface Head {
  readonly status: number;
  readonly reason: string | undefined;
  readonly headers: HeaderLine[];
  /** The declared length of the content in bytes. */
  readonly length: number | undefined;
}

/**
 * Observes a response at the level of `ServerResponse` and holds back its end.
 *
 * Bytes that cannot complete the response go to the client at once; the byte or the head that would complete it waits for
 * `release()`. The methods of `res` that were there before (node's, or those of a middleware before us) stay underneath:
 * what is recorded is what the handler sent into them, and a replay goes through them again.
 */
export function record(req: IncomingMessage, res: ServerResponse, maxBytes: number): Recording {
  return new Recorder(req, res, maxBytes);
}

class Recorder implements Recording {
  readonly ending: Promise<Ending>;
  clientGone = false;
  private readonly below;
  private readonly progress: Progress;
  private settle!: (ending: Ending) => void;
  private head: Head | undefined;
  private trailers: HeaderLine[] = [];
  private body: Buffer[] | undefined = [];
  private bytes = 0;
  /** What waits for `release()`. */
  private held: Buffer[] = [];
  private callbacks: Callback[] = [];
  private begun = false;
  private ended = false;
  private settled = false;
  private destroyLater: (() => void) | undefined;

  constructor(private readonly req: IncomingMessage, private readonly res: ServerResponse, private readonly maxBytes: number) {
    this.ending = new Promise(resolve => { this.settle = resolve; });
    this.progress = res as unknown as Progress;
    // eslint-disable-next-line @typescript-eslint/unbound-method -- they are called with `res` as `this`.
    const { writeHead, write, end, flushHeaders, addTrailers, destroy, emit } = res;
    this.below = { writeHead, write, end, flushHeaders, addTrailers, destroy, emit };
    res.writeHead = this.writeHead.bind(this);
    res.write = this.write.bind(this) as typeof write;
    res.end = this.end.bind(this) as typeof end;
    res.flushHeaders = this.flushHeaders.bind(this);
    res.addTrailers = this.addTrailers.bind(this);
    res.destroy = this.destroy.bind(this);
    res.emit = this.emit.bind(this) as typeof emit;
  }

  get canBeReplaced(): boolean {
    return !this.begun;
  }

  release(): void {
    if (!this.clientGone) {
      this.resume();
      this.begin();
      const rest = Buffer.concat(this.held);
      const called = (): void => { for (const callback of this.callbacks) callback(); };
      this.below.end.call(this.res, rest.length > 0 ? rest : undefined, 'utf8', called);
    }
    this.close();
  }

  withdraw(): void {
    this.resume();
    if (!this.begun) this.progress._header = null;
    Object.assign(this.res, this.below);
    for (const [name] of headersOf(this.res)) this.res.removeHeader(name);
    this.res.statusMessage = '';
    this.close();
  }

  cut(): void {
    this.resume();
    this.below.destroy.call(this.res);
    this.close();
  }

  private writeHead(status: number, second?: string | HeadersArgument, third?: HeadersArgument): ServerResponse {
    const reason = typeof second === 'string' ? second : this.res.statusMessage;
    const headers = typeof second === 'string' ? third : second ?? third;
    // Node says what is wrong, in its own words: a head that is already written, a status that is none.
    if (this.head || !(status >= 100 && status <= 999)) return (ServerResponse.prototype.writeHead as (this: ServerResponse, status: number) => ServerResponse).call(this.res, status);
    setHeaders(this.res, headers);
    this.res.statusCode = Math.trunc(status);
    if (reason) this.res.statusMessage = reason;
    const length = this.res.getHeader('content-length');
    this.head = { status: this.res.statusCode, reason: reason || undefined, headers: headersOf(this.res), length: length === undefined ? undefined : Number(length) };
    this.progress._header = HELD;
    return this.res;
  }

  private write(chunk: Chunk, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    const done = typeof encoding === 'function' ? encoding : callback;
    // Node says what is wrong: a write after the end, a chunk that is none.
    if (this.ended || !isChunk(chunk)) return this.below.write.call(this.res, chunk, encoding as BufferEncoding, callback);
    if (!this.head) this.res.writeHead(this.res.statusCode);
    const bytes = this.keep(toBuffer(chunk, encoding));
    if (this.clientGone || !this.hasContent()) {
      if (done) process.nextTick(done);
      return true;
    }
    if (this.isWhole()) {
      this.held.push(bytes);
      if (done) this.callbacks.push(done);
      return true;
    }
    this.begin();
    return this.below.write.call(this.res, bytes, 'utf8', done);
  }

  private end(chunk?: Chunk | Callback | null, encoding?: BufferEncoding | Callback, callback?: Callback): ServerResponse {
    const done = [chunk, encoding, callback].find(argument => typeof argument === 'function');
    const last = typeof chunk === 'function' ? undefined : chunk ?? undefined;
    if (this.ended || (last !== undefined && !isChunk(last))) return this.below.end.call(this.res, last, typeof encoding === 'string' ? encoding : 'utf8', done);
    const bytes = last === undefined ? Buffer.alloc(0) : toBuffer(last, encoding);
    if (!this.head) {
      this.declareLength(bytes.length);
      this.res.writeHead(this.res.statusCode);
    }
    this.held.push(this.keep(bytes));
    if (done) this.callbacks.push(done);
    this.ended = true;
    this.progress.finished = true;
    this.holdSocket();
    this.settle(this.isShort() ? { kind: 'cut-off' } : { kind: 'complete', response: this.recorded() });
    return this.res;
  }

  /** A head that is the whole response (HEAD, 204, an empty body) waits like any other last byte. */
  private flushHeaders(): void {
    if (!this.head) this.res.writeHead(this.res.statusCode);
    if (this.ended || this.clientGone || !this.hasContent() || this.isWhole()) return;
    this.begin();
    this.below.flushHeaders.call(this.res);
  }

  private addTrailers(trailers: OutgoingHttpHeaders | readonly [string, string][]): void {
    const lines = (Array.isArray(trailers) ? trailers : Object.entries(trailers)) as [string, string][];
    this.below.addTrailers.call(this.res, lines);
    this.trailers = lines;
  }

  /** Called by the handler, or by a pipeline whose source has failed: nothing more will come. */
  private destroy(error?: Error): ServerResponse {
    if (this.ended && !this.settled) {
      this.destroyLater ??= () => { this.res.socket?.destroySoon(); };
      return this.res;
    }
    this.settle({ kind: 'cut-off' });
    return this.below.destroy.call(this.res, error);
  }

  /**
   * The client's going away is not the end of the handler's work. The response looks open until it is ended, so that a
   * stream that is piped into it is read to its end; `close` is told afterwards.
   */
  private emit(event: string, ...args: unknown[]): boolean {
    if (event !== 'close' || this.settled) return this.below.emit.call(this.res, event, ...args);
    this.clientGone = true;
    if (!this.ended && this.head && wasClosedHere(this.req)) this.settle({ kind: 'cut-off' });
    else {
      Object.assign(this.res, { destroyed: false, _closed: false });
      // Whoever waits for the dead socket to drain would wait for ever.
      this.below.emit.call(this.res, 'drain');
    }
    return true;
  }

  /** From here on `res` is what it was; a `close` that was held back is told. */
  private close(): void {
    if (this.settled) return;
    this.settled = true;
    if (this.clientGone) {
      Object.assign(this.res, { destroyed: true, _closed: true });
      this.below.emit.call(this.res, 'close');
    }
  }

  private keep(bytes: Buffer): Buffer {
    if (!this.hasContent()) return Buffer.alloc(0);
    this.bytes += bytes.length;
    if (this.bytes > this.maxBytes) this.body = undefined;
    this.body?.push(bytes);
    return bytes;
  }

  private recorded(): RecordedResponse | undefined {
    if (!this.head || !this.body) return undefined;
    const { status, reason, headers } = this.head;
    return { status, ...(reason !== undefined && { reason }), headers, body: Buffer.concat(this.body), trailers: this.trailers };
  }

  /** Writes the held head. */
  private begin(): void {
    if (this.begun || !this.head) return;
    this.begun = true;
    this.progress._header = null;
    const { status, reason } = this.head;
    if (reason === undefined) this.below.writeHead.call(this.res, status);
    else (this.below.writeHead as (status: number, reason: string) => void).call(this.res, status, reason);
  }

  /** Undoes what made the response look ended. */
  private resume(): void {
    this.progress.finished = false;
    const { socket } = this.res;
    if (socket && Object.hasOwn(socket, 'destroy')) delete (socket as Partial<typeof socket>).destroy;
    if (this.destroyLater) this.res.once('finish', this.destroyLater);
  }

  /**
   * An error after the end makes Express destroy the socket ("cannot respond"). Without us the response has left by then; so
   * while it is held back, the destruction waits for it.
   */
  private holdSocket(): void {
    const { socket } = this.res;
    if (!socket) return;
    socket.destroy = () => {
      this.destroyLater ??= () => { socket.destroySoon(); };
      return socket;
    };
  }

  /** RFC 9110, section 6.4.1: responses to HEAD, and 1xx, 204 and 304 responses, have no content. */
  private hasContent(): boolean {
    const status = this.head?.status ?? this.res.statusCode;
    return this.req.method !== 'HEAD' && status !== 204 && status !== 304 && status >= 200;
  }

  /** True when the declared length has been reached: the client would take the response for complete. */
  private isWhole(): boolean {
    return this.head?.length !== undefined && this.bytes >= this.head.length;
  }

  /** True when the handler ended before the length that it declared: the client will not take that for a whole response. */
  private isShort(): boolean {
    return this.hasContent() && this.head?.length !== undefined && this.bytes < this.head.length;
  }

  /** Node adds this header inside `end`, where it knows the length; we write the head before. */
  private declareLength(length: number): void {
    const { res } = this;
    if (this.hasContent() && !res.hasHeader('content-length') && !res.hasHeader('transfer-encoding') && !res.hasHeader('trailer')) res.setHeader('Content-Length', length);
  }
}

/** The forms that `writeHead` takes: an object, a flat list of names and values, a list of pairs. */
function setHeaders(res: ServerResponse, headers: HeadersArgument | undefined): void {
  if (headers === undefined) return;
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
    return;
  }
  const lines = (Array.isArray(headers[0]) ? headers : pairUp(headers)) as [name: string, value: string | string[]][];
  for (const [name] of lines) res.removeHeader(name);
  for (const [name, value] of lines) res.appendHeader(name, value);
}

function pairUp(flat: readonly OutgoingHttpHeader[]): (readonly OutgoingHttpHeader[])[] {
  return flat.flatMap((_, index) => (index % 2 === 0 ? [flat.slice(index, index + 2)] : []));
}

function isChunk(chunk: unknown): chunk is Chunk {
  return typeof chunk === 'string' || chunk instanceof Uint8Array;
}

function toBuffer(chunk: Chunk, encoding: BufferEncoding | Callback | undefined): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8');
  // A handler may reuse its buffer once the write is done; ours has to last.
  return Buffer.from(chunk);
}

/** True when this side destroyed the connection: the client neither ended nor reset it. */
function wasClosedHere({ socket }: IncomingMessage): boolean {
  return !socket.readableEnded && !(socket.errored && 'syscall' in socket.errored);
}
