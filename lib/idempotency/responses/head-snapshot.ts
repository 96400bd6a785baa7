import type { ServerResponse } from 'node:http';
import { isPerExchange, type HeaderLine } from './recorded-response';

/**
 * Members of node's responses that its types lack: the method (since 15.4), and its notes of removed headers and of
 * whether the response has content.
 */
export type NodeResponse = ServerResponse & {
  getRawHeaderNames(): string[];
  sendDate: boolean;
  _hasBody: boolean;
  _removedConnection: boolean;
  _removedContLen: boolean;
  _removedTE: boolean;
};

/**
 * Headers that describe the body: they belong to the response with that body, even if an earlier middleware has set
 * them.
 */
const OF_THE_BODY = new Set(['content-length', 'content-type', 'content-encoding', 'content-range', 'trailer']);

const NO_LINES: ReadonlyMap<string, HeaderLine> = new Map();

/** The changes of the handler's side to the headers that were set before. */
export interface HeadChanges {
  /** Header lines that were added or changed; of `Set-Cookie`, the lines that were added. */
  readonly headers: readonly HeaderLine[];
  /** Names, in lower case, of headers that were removed, or removed and then set again. */
  readonly removed: readonly string[];
}

/** Returns true for a header of the body, which a replay takes only from the stored response. */
export function isOfTheBody(name: string): boolean {
  return OF_THE_BODY.has(name.toLowerCase());
}

/** Returns all header lines that are set on a response, in the order and spelling in which they will be sent. */
export function linesOf(res: ServerResponse): HeaderLine[] {
  return (res as NodeResponse).getRawHeaderNames().map((name): HeaderLine => {
    const value = res.getHeader(name) ?? '';
    return [name, Array.isArray(value) ? value.map(String) : String(value)];
  });
}

/** The head of a response as earlier middlewares have left it: its headers belong to the current request. */
export class HeadSnapshot {
  /** By name, in lower case. */
  private readonly lines: ReadonlyMap<string, HeaderLine>;
  private readonly state;

  constructor(private readonly res: ServerResponse) {
    const lines = linesOf(res);
    this.lines = lines.length > 0 ? new Map(lines.map(line => [line[0].toLowerCase(), line])) : NO_LINES;
    const { statusCode, statusMessage, sendDate, _hasBody, _removedConnection, _removedContLen, _removedTE } =
      res as NodeResponse;
    this.state = { statusCode, statusMessage, sendDate, _hasBody, _removedConnection, _removedContLen, _removedTE };
  }

  changes(): HeadChanges {
    // Nothing was set before, so every line is the handler's.
    if (this.lines.size === 0)
      return { headers: linesOf(this.res).filter(([name]) => !isPerExchange(name)), removed: [] };
    const headers: HeaderLine[] = [];
    const names = new Set<string>();
    const replaced: string[] = [];
    let isBehindNew = false;
    for (const [name, value] of linesOf(this.res).filter(([name]) => !isPerExchange(name))) {
      const lowerCase = name.toLowerCase();
      const before = this.lines.get(lowerCase);
      names.add(lowerCase);
      const own = before
        ? ownPart([name, value], before, isBehindNew)
        : { line: [name, value] as const, replaces: false };
      if (own.line) headers.push(own.line);
      if (own.replaces) replaced.push(lowerCase);
      isBehindNew ||= !before;
    }
    const gone = [...this.lines.keys()].filter(name => !names.has(name) && !isPerExchange(name) && !isOfTheBody(name));
    return { headers, removed: [...replaced, ...gone] };
  }

  /** Restores the head, with node's notes. */
  putBack(): void {
    for (const [name] of linesOf(this.res)) this.res.removeHeader(name);
    Object.assign(this.res, this.state);
    for (const [name, value] of this.lines.values()) this.res.setHeader(name, value);
  }
}

/**
 * Returns the part of a header line that the handler's side has set.
 * @param isBehindNew true if the line comes after a new one: then it was removed and set again.
 */
function ownPart(
  line: HeaderLine,
  before: HeaderLine,
  isBehindNew: boolean,
): { line: HeaderLine | undefined; replaces: boolean } {
  const [name, value] = line;
  if (isOfTheBody(name)) return { line, replaces: false };
  if (name.toLowerCase() === 'set-cookie') return ownCookies(line, before);
  if (isBehindNew) return { line, replaces: true };
  return { line: name === before[0] && sameValue(value, before[1]) ? undefined : line, replaces: false };
}

/** Returns the added cookies, each of which is a line. If none of the earlier ones is left, they were replaced. */
function ownCookies(
  [name, value]: HeaderLine,
  before: HeaderLine,
): { line: HeaderLine | undefined; replaces: boolean } {
  const earlier = [before[1]].flat();
  const added = [value].flat().filter(cookie => {
    const index = earlier.indexOf(cookie);
    if (index >= 0) earlier.splice(index, 1);
    return index < 0;
  });
  if (earlier.length === [before[1]].flat().length) return { line: [name, value], replaces: true };
  return { line: added.length > 0 ? [name, added] : undefined, replaces: false };
}

function sameValue(one: HeaderLine[1], other: HeaderLine[1]): boolean {
  return typeof one === 'string' || typeof other === 'string'
    ? one === other
    : one.length === other.length && one.every((text, index) => text === other[index]);
}
