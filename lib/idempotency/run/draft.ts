import type { ServerResponse } from 'node:http';
import type { RecordedResponse } from '../responses/recorded-response';
import { bytesOf, linesOf, Recording, type HeadersArgument, type HeadersBefore } from './recording';
import { replay } from './replay';

/** Why a draft is no response that could be stored. */
export type Unfit = 'streamed' | 'too-long' | 'not-replayable';

/**
 * Begins a response of which nothing reaches node: its status, headers and body are drafted on `res`, whose
 * `headersSent` stays false. It is then thrown away, or sent as a replay is.
 * @param before the headers as the middlewares before `idempotency()` have left them.
 * @param maxBytes bytes of the body that are kept.
 */
export function beginDraft(res: ServerResponse, before: HeadersBefore, maxBytes: number) {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- they are given back to `res`.
  const { statusCode, statusMessage, writeHead, write, end, flushHeaders, addTrailers } = res;
  const headers = linesOf(res);
  const recording = new Recording(res, maxBytes, before);
  let finished: (() => void) | undefined;
  const ended = new Promise<RecordedResponse | Unfit>(resolve => {
    const streams = (): boolean => {
      resolve('streamed');
      return true;
    };
    let hasHead = false;
    Object.assign(res, {
      writeHead(status: number, reason?: string | HeadersArgument, given?: HeadersArgument) {
        recording.setHead(status, reason, given);
        hasHead = true;
        return res;
      },
      write: streams,
      flushHeaders: streams,
      addTrailers: recording.keepTrailers.bind(recording),
      end(...args: unknown[]) {
        finished = args.find(argument => typeof argument === 'function') as typeof finished;
        const bytes = bytesOf(args[0], args[1]);
        if (!hasHead) recording.declareLength(bytes.length);
        recording.head ??= recording.takeHead();
        recording.keep(bytes);
        resolve(recording.response ?? (recording.size > maxBytes ? 'too-long' : 'not-replayable'));
        return res;
      },
    });
  });
  const discard = (): void => {
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    for (const [name, value] of headers) res.setHeader(name, value);
    Object.assign(res, { statusCode, statusMessage, writeHead, write, end, flushHeaders, addTrailers });
  };
  return {
    /** Resolves when the handler has ended its response, or begins to stream it. */
    ended,
    /** Throws the draft away: `res` is as it was before. */
    discard,
    /** Sends what `ended` has resolved to. */
    send(response: RecordedResponse): void {
      discard();
      if (finished) res.once('finish', finished);
      replay(response, res.req, res, false);
    },
  };
}
