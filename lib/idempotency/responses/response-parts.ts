import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { types } from 'node:util';
import type { HeaderLine } from './recorded-response';

/** The content that `write` and `end` accept. */
export type Chunk = string | Uint8Array;
export type Callback = (error?: Error | null) => void;
export type HeadersArgument = OutgoingHttpHeaders | readonly OutgoingHttpHeader[];

/** Returns true for what node accepts, which may be of another realm (Next.js runs routes in one, Jest runs tests). */
export function isChunk(chunk: unknown): chunk is Chunk {
  return typeof chunk === 'string' || types.isUint8Array(chunk);
}

/** Copies the bytes: a handler may reuse its buffer after the write, but the recording still needs them. */
export function copyOfBytes(chunk: Chunk, encoding: unknown): Buffer {
  return typeof chunk === 'string'
    ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
    : Buffer.from(chunk);
}

/** Sets the headers of `writeHead`: an object, a flat list of names and values, or a list of pairs. */
export function setHeaders(res: ServerResponse, headers: HeadersArgument): void {
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value as OutgoingHttpHeader);
    return;
  }
  const list = headers as OutgoingHttpHeader[];
  const pairs = (Array.isArray(list[0]) ? list : pairUp(list)) as [name: string, value: string | string[]][];
  for (const [name] of pairs) res.removeHeader(name);
  for (const [name, value] of pairs) res.appendHeader(name, value);
}

/**
 * Declares the length that a program has noted in the response as node does (@hono/node-server): node would declare it
 * in the head, and a replay has the head only.
 */
export function declareNotedLength(res: ServerResponse): void {
  const { _contentLength: length, _removedContLen: isRemoved } = res as Partial<NotedLength>;
  const isFramed = ['Content-Length', 'Transfer-Encoding', 'Trailer'].some(name => res.hasHeader(name));
  if (typeof length === 'number' && isRemoved !== true && !isFramed) res.setHeader('Content-Length', length);
}

/** Members of node's responses that its types lack. */
interface NotedLength {
  readonly _contentLength: number | null;
  readonly _removedContLen: boolean;
}

function pairUp(flat: readonly OutgoingHttpHeader[]): (readonly OutgoingHttpHeader[])[] {
  return flat.flatMap((_, index) => (index % 2 === 0 ? [flat.slice(index, index + 2)] : []));
}

/** Returns the lines of `addTrailers`: an object, or a list of pairs in which a name may be repeated. */
export function trailerLines(trailers: OutgoingHttpHeaders | readonly [string, string][]): HeaderLine[] {
  const pairs = (Array.isArray(trailers) ? trailers : Object.entries(trailers)) as [
    name: string,
    value: OutgoingHttpHeader,
  ][];
  const lines = new Map<string, HeaderLine>();
  for (const [name, value] of pairs) {
    const [sent = name, earlier = []] = lines.get(name.toLowerCase()) ?? [];
    const texts = [...[earlier].flat(), ...[value].flat().map(String)];
    lines.set(name.toLowerCase(), [sent, texts.length === 1 && texts[0] !== undefined ? texts[0] : texts]);
  }
  return [...lines.values()];
}
