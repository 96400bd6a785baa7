import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { isUint8Array } from 'node:util/types';
import {
  isOfTheBody,
  isPerExchange,
  mayHaveContent,
  type HeaderLine,
  type RecordedResponse,
} from '../responses/recorded-response';

export type HeadersArgument = OutgoingHttpHeaders | readonly OutgoingHttpHeader[];

/** The headers that earlier middlewares have set, by their names in lower case: they belong to the current request. */
export type HeadersBefore = ReadonlyMap<string, string | readonly string[]>;

/** The head of a response as the handler's side has written it. */
export interface Head extends Pick<RecordedResponse, 'status' | 'reason' | 'headers' | 'removed'> {
  readonly hasContent: boolean;
  /** The declared length of the content in bytes. */
  readonly length: number | undefined;
  /** False if a replay would say something else: of a transfer coding other than `chunked`, for example. */
  readonly isReplayable: boolean;
}

const NONE: HeadersBefore = new Map();

/** Returns the header lines that are set on a response, in the order and spelling in which they will be sent. */
export function linesOf(res: ServerResponse): HeaderLine[] {
  // Documented since Node 15.4, and missing in its types.
  const names = (res as ServerResponse & { getRawHeaderNames(): string[] }).getRawHeaderNames();
  return names.map((name): HeaderLine => [name, valueOf(res, name)]);
}

function valueOf(res: ServerResponse, name: string): HeaderLine[1] {
  const value = res.getHeader(name) ?? '';
  return Array.isArray(value) ? value.map(String) : String(value);
}

export function headersBefore(res: ServerResponse): HeadersBefore {
  const names = res.getHeaderNames();
  return names.length === 0 ? NONE : new Map(names.map(name => [name, valueOf(res, name)]));
}

/** Returns the head that is about to be written. */
export function headOf(res: ServerResponse, before: HeadersBefore): Head {
  const declared = res.getHeader('content-length');
  const length = declared === undefined ? undefined : Number(declared);
  const coding = String(res.getHeader('transfer-encoding') ?? 'chunked');
  return {
    status: res.statusCode,
    reason: res.statusMessage || undefined,
    headers: changesOf(res, before),
    removed: removedFrom(res, before),
    hasContent: mayHaveContent(res.req.method, res.statusCode),
    length,
    isReplayable:
      res.statusCode >= 200 &&
      coding.trim().toLowerCase() === 'chunked' &&
      (length === undefined || Number.isSafeInteger(length)),
  };
}

/** Declares the length of the content as node does, if `end` writes the head. */
export function declareLength(res: ServerResponse, length: number): void {
  const isFramed = res.hasHeader('Content-Length') || res.hasHeader('Transfer-Encoding') || res.hasHeader('Trailer');
  if (!isFramed && mayHaveContent(res.req.method, res.statusCode)) res.setHeader('Content-Length', length);
}

/** Returns what a replay has to set: headers of the body always, of the others those that differ from before. */
function changesOf(res: ServerResponse, before: HeadersBefore): HeaderLine[] {
  const headers: HeaderLine[] = [];
  for (const [name, value] of linesOf(res)) {
    const lowerCase = name.toLowerCase();
    if (isPerExchange(lowerCase)) continue;
    const earlier = isOfTheBody(lowerCase) ? undefined : before.get(lowerCase);
    // Node also takes a length that was given as ` 3`.
    if (lowerCase === 'content-length') headers.push([name, String(Number(value))]);
    else if (earlier === undefined) headers.push([name, value]);
    else if (lowerCase === 'set-cookie') addCookies(headers, name, [value].flat(), [earlier].flat());
    else if (String(value) !== String(earlier)) headers.push([name, value]);
  }
  return headers;
}

function removedFrom(res: ServerResponse, before: HeadersBefore): readonly string[] | undefined {
  let removed: string[] | undefined;
  for (const name of before.keys())
    if (!res.hasHeader(name) && !isPerExchange(name) && !isOfTheBody(name)) (removed ??= []).push(name);
  return removed;
}

function addCookies(headers: HeaderLine[], name: string, cookies: readonly string[], earlier: readonly string[]): void {
  const added = cookies.filter(cookie => !earlier.includes(cookie));
  if (added.length > 0) headers.push([name, added]);
}

/** Sets what `writeHead` was given; the reason may be left out. */
export function setHead(
  res: ServerResponse,
  status: number,
  reason: string | HeadersArgument | undefined,
  headers: HeadersArgument | undefined,
): void {
  res.statusCode = Math.trunc(status);
  if (typeof reason === 'string') res.statusMessage = reason;
  const given = typeof reason === 'string' ? headers : (reason ?? headers);
  if (given) setHeaders(res, given);
}

/** Sets headers: of an object, a flat list of names and values, or a list of pairs. */
function setHeaders(res: ServerResponse, headers: HeadersArgument): void {
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value as OutgoingHttpHeader);
    return;
  }
  const list = headers as OutgoingHttpHeader[];
  const flat = list.flatMap((_, at) => (at % 2 === 0 ? [list.slice(at, at + 2)] : []));
  const pairs = (Array.isArray(list[0]) ? list : flat) as [name: string, value: string | string[]][];
  for (const [name] of pairs) res.removeHeader(name);
  for (const [name, value] of pairs) res.appendHeader(name, value);
}

/** Returns the lines of `addTrailers`: an object, or a list of pairs in which a name may be repeated. */
export function trailerLines(trailers: OutgoingHttpHeaders | readonly [string, string][]): HeaderLine[] {
  const pairs = (Array.isArray(trailers) ? trailers : Object.entries(trailers)) as [string, OutgoingHttpHeader][];
  const lines = new Map<string, [name: string, values: string[]]>();
  for (const [name, value] of pairs) {
    const [sent, values] = lines.get(name.toLowerCase()) ?? [name, []];
    lines.set(name.toLowerCase(), [sent, [...values, ...[value].flat().map(String)]]);
  }
  // A replay has a date of its own.
  const kept = [...lines.values()].filter(([name]) => !isPerExchange(name));
  return kept.map(([name, values]) => [name, values.length === 1 ? String(values[0]) : values]);
}

/** Copies the bytes of a chunk: a handler may reuse its buffer after the write. */
export function bytesOf(chunk: unknown, encoding: unknown): Buffer {
  if (typeof chunk === 'string')
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  return isUint8Array(chunk) ? Buffer.from(chunk) : Buffer.alloc(0);
}
