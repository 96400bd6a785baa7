import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { HeaderLine, RecordedResponse } from '../responses/recorded-response';
import { bytesOf, linesOf, setHead, type HeadersArgument, type HeadersBefore } from './head';
import { Recording } from './recording';
import { replay } from './replay';

type Callback = () => void;

/** Why a draft is no response that could be stored. */
export type Unfit = 'streamed' | 'too-long' | 'not-replayable';

/**
 * A response of which nothing reaches node: its status, headers and body are drafted on `res`, whose `headersSent`
 * stays false. It is then thrown away, or sent as a replay is.
 */
export class Draft {
  /** Resolves when the handler has ended its response, or begins to stream it. */
  readonly ended: Promise<RecordedResponse | Unfit>;
  private settle: (ended: RecordedResponse | Unfit) => void = () => undefined;
  private readonly methods;
  private readonly headers: readonly HeaderLine[];
  private readonly status: readonly [code: number, message: string];
  private readonly recording: Recording;
  private hasHead = false;
  private callback: Callback | undefined;
  private response: RecordedResponse | undefined;

  /**
   * Begins the draft.
   * @param before the headers as the middlewares before `idempotency()` have left them.
   * @param maxBytes bytes of the body that are kept.
   */
  constructor(
    private readonly res: ServerResponse,
    before: HeadersBefore,
    private readonly maxBytes: number,
  ) {
    this.recording = new Recording(res, maxBytes, before);
    this.ended = new Promise(resolve => {
      this.settle = resolve;
    });
    // eslint-disable-next-line @typescript-eslint/unbound-method -- they are given back to `res`.
    const { writeHead, write, end, flushHeaders, addTrailers } = res;
    this.methods = { writeHead, write, end, flushHeaders, addTrailers };
    this.headers = linesOf(res);
    this.status = [res.statusCode, res.statusMessage];
    const streams = (): boolean => {
      this.settle('streamed');
      return true;
    };
    Object.assign(res, {
      writeHead: this.writeHead.bind(this),
      write: streams,
      flushHeaders: streams,
      end: this.end.bind(this),
      addTrailers: (trailers: OutgoingHttpHeaders) => {
        this.recording.keepTrailers(trailers);
      },
    });
  }

  /** Throws the draft away: `res` is as it was before. */
  discard(): void {
    const { res } = this;
    Object.assign(res, this.methods);
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    for (const [name, value] of this.headers) res.setHeader(name, value);
    [res.statusCode, res.statusMessage] = this.status;
  }

  /** Sends the draft. @throws Error if there is no response. */
  send(): void {
    const { res, response, callback } = this;
    if (!response) throw new Error('idempotency: a draft without a response cannot be sent.');
    this.discard();
    if (callback) res.once('finish', callback);
    replay(response, res.req, res, false);
  }

  private writeHead(status: number, reason?: string | HeadersArgument, headers?: HeadersArgument): ServerResponse {
    setHead(this.res, status, reason, headers);
    this.hasHead = true;
    return this.res;
  }

  private end(chunk?: unknown, encoding?: unknown, callback?: unknown): ServerResponse {
    const { recording } = this;
    this.callback = [chunk, encoding, callback].find(
      (argument): argument is Callback => typeof argument === 'function',
    );
    const bytes = bytesOf(chunk, encoding);
    recording.head ??= recording.takeHead(this.hasHead ? undefined : bytes.length);
    recording.keep(bytes);
    this.response ??= recording.response;
    this.settle(this.response ?? (recording.size > this.maxBytes ? 'too-long' : 'not-replayable'));
    return this.res;
  }
}
