import type { WireResponse } from './listen';

/** All that a client can tell two responses apart by, but for the headers of the exchange. */
export function visible({ status, reason, headers, lines, body, trailers }: WireResponse) {
  return { status, reason, lines, body: body.toString('latin1'), trailers, framing: headers['transfer-encoding'] };
}

/** The same, of a replay: without the line that says that it is one, which has to be there. */
export function visibleReplay(response: WireResponse) {
  const { lines, ...rest } = visible(response);
  expect(lines).toContain('Idempotent-Replayed: true');
  return { ...rest, lines: lines.filter(line => line !== 'Idempotent-Replayed: true') };
}

/** Request headers with an idempotency key. */
export function keyed(key: string, headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { 'Idempotency-Key': key, ...headers };
}
