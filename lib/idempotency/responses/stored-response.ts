import { validateHeaderName, validateHeaderValue } from 'node:http';
import {
  areTooLong,
  INVALID_IN_REASON,
  isPerExchange,
  MAX_HEAD,
  MAX_LINES,
  mayHaveContent,
  type HeaderLine,
  type RecordedResponse,
} from './recorded-response';

/** What the text of a stored response contains, as JSON. */
interface StoredResponse extends Omit<RecordedResponse, 'body'> {
  readonly version: 1;
  /** The key that it is stored under: a client that has lost count of its answers returns those to other commands. */
  readonly key: string;
  /** Base64. */
  readonly body: string;
}

/** The properties of a response that are known before it is read. */
export interface Expected {
  readonly key: string;
  /** Method of the request: responses to HEAD have a length but no content. */
  readonly method: string | undefined;
  /** Most bytes of a body that would have been kept. */
  readonly maxBytes: number;
}

/**
 * Writes a response as it is stored in Keyv: as text, which every serialiser supports. (Keyv's own takes ten times as
 * long for the object, 13 µs.)
 */
export function toStored(key: string, response: RecordedResponse): string {
  const stored: StoredResponse = { version: 1, key, ...response, body: response.body.toString('base64') };
  return JSON.stringify(stored);
}

/**
 * Reads a record of the store. Another program may have written or damaged it: sent unchecked, it could be read as two
 * responses, or as none.
 * @returns undefined for anything but a response that could have been recorded here.
 */
export function fromStored(stored: unknown, { key, method, maxBytes }: Expected): RecordedResponse | undefined {
  if (typeof stored !== 'string' || stored.length > mostCharacters(maxBytes)) return undefined;
  try {
    const {
      version,
      key: storedUnder,
      status,
      reason,
      headers,
      removed,
      impliedBy,
      body,
      trailers,
    } = JSON.parse(stored) as Readonly<Record<string, unknown>>;
    if (version !== 1 || storedUnder !== key || !isStatus(status) || !isReason(reason) || !isImpliedBy(impliedBy))
      return undefined;
    const bytes = bytesInBase64(body, maxBytes);
    const head = validLines(headers);
    const foot = validLines(trailers);
    const names = removed === undefined ? [] : namesOf(removed);
    if (!bytes || !head || !foot || !names) return undefined;
    if (!isFramed(head, bytes.length, mayHaveContent(method, status)) || foot.some(([name]) => isLength(name)))
      return undefined;
    return {
      status,
      ...(reason !== undefined && { reason }),
      headers: head,
      ...(names.length > 0 && { removed: names }),
      ...(impliedBy && { impliedBy }),
      body: bytes,
      trailers: foot,
    };
  } catch {
    return undefined;
  }
}

/** Returns more characters than the longest text has: its body, and the rest even if each character is escaped. */
const mostCharacters = (maxBytes: number): number => base64Length(maxBytes) + 10 * MAX_HEAD;

const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** Returns true for the status of a final response; 101 and other 1xx are not final. */
function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 200 && (value as number) <= 999;
}

function isReason(value: unknown): value is string | undefined {
  return (
    value === undefined || (typeof value === 'string' && value.length <= MAX_HEAD && !INVALID_IN_REASON.test(value))
  );
}

function isImpliedBy(value: unknown): value is RecordedResponse['impliedBy'] {
  return value === undefined || value === 'write' || value === 'end';
}

/** Returns the bytes of base64 as `toStored` writes it, at most `max`. */
function bytesInBase64(value: unknown, max: number): Buffer | undefined {
  if (typeof value !== 'string' || value.length > base64Length(max)) return undefined;
  const bytes = Buffer.from(value, 'base64');
  return bytes.length <= max && bytes.toString('base64') === value ? bytes : undefined;
}

/** Returns header lines whose names and values are valid, each name once, and none that belongs to one exchange. */
function validLines(value: unknown): HeaderLine[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const lines: HeaderLine[] = [];
  const names = new Set<string>();
  for (const entry of value as unknown[]) {
    const line = lineOf(entry);
    if (!line || names.has(line[0].toLowerCase()) || isPerExchange(line[0])) return undefined;
    names.add(line[0].toLowerCase());
    lines.push(line);
  }
  return areTooLong(lines) ? undefined : lines;
}

/** Returns one header line. @throws for a name or a value that node would not send. */
function lineOf(entry: unknown): HeaderLine | undefined {
  if (!Array.isArray(entry) || entry.length !== 2) return undefined;
  const [name, value] = entry as [unknown, unknown];
  if (typeof name !== 'string' || name.length > MAX_HEAD) return undefined;
  if (Array.isArray(value) && value.length > MAX_LINES) return undefined;
  const texts = Array.isArray(value) ? [...(value as unknown[])] : [value];
  if (!texts.every(text => typeof text === 'string' && text.length <= MAX_HEAD)) return undefined;
  validateHeaderName(name);
  for (const text of texts) validateHeaderValue(name, text as string);
  return [name, Array.isArray(value) ? (texts as string[]) : (texts[0] as string)];
}

function namesOf(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.length <= MAX_LINES
    ? validLines(value.map((name: unknown) => [name, '']))?.map(([name]) => name)
    : undefined;
}

/**
 * Returns true if the Content-Length, if any, is that of the body, or if there can be no body. Trailers need a body
 * without a length.
 */
function isFramed(headers: readonly HeaderLine[], bytes: number, mayHaveBody: boolean): boolean {
  if (!mayHaveBody && bytes > 0) return false;
  const length = headers.find(([name]) => isLength(name))?.[1];
  const announcesTrailers = headers.some(([name]) => name.toLowerCase() === 'trailer');
  if (announcesTrailers && (!mayHaveBody || length !== undefined)) return false;
  if (length === undefined) return true;
  return typeof length === 'string' && /^\d{1,15}$/.test(length) && (!mayHaveBody || Number(length) === bytes);
}

function isLength(name: string): boolean {
  return name.toLowerCase() === 'content-length';
}
