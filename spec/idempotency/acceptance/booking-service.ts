import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { send, type WireResponse } from '../../support/listen';
import { NodeProcess } from '../../support/servers/node-process';
import { TemporaryDirectory } from '../../support/temporary-directory';

const script = join(__dirname, '../../support/programs/booking-server.mjs');

/** How a run is to go; no part of the request's identity. */
export interface Run {
  /** Milliseconds that it takes. */
  readonly work?: number;
  /** Its process stops as soon as it has said that it runs. */
  readonly stops?: boolean;
  readonly then?: 'answer' | 'forget' | 'reject' | 'exit' | 'exitAtOnce' | 'exitOnceWritten';
}

/** Processes of one service, and what its handlers say of themselves, in a file that the library does not know. */
export class BookingService {
  private readonly directory = new TemporaryDirectory();
  private readonly file = join(this.directory.path, 'log');
  private readonly processes: NodeProcess[] = [];

  constructor() {
    writeFileSync(this.file, '');
  }

  async start(env: Readonly<Record<string, string>>, options: object = {}): Promise<NodeProcess> {
    const started = await NodeProcess.start(script, { LOG: this.file, OPTIONS: JSON.stringify(options), ...env });
    this.processes.push(started);
    return started;
  }

  /** How often the handler was started for a key. */
  runs(key: string): number {
    return readFileSync(this.file, 'utf8').split(`${JSON.stringify({ key })}\n`).length - 1;
  }

  /** Ends all processes. None of them may have left a rejection to nobody. */
  async stop(): Promise<void> {
    const ended = this.processes.splice(0);
    await Promise.all(ended.map(one => one.kill()));
    this.directory.remove();
    const lines = ended.flatMap(({ output }) => output);
    expect(lines.filter(line => /^unhandled (?!Error: The handler gave up)/.test(line))).toEqual([]);
  }
}

export function book(
  { url }: NodeProcess,
  key: string,
  { work = 0, stops = false, then = 'answer' }: Run = {},
): Promise<WireResponse> {
  return send(`${url}/bookings`, {
    headers: { 'Idempotency-Key': key, 'X-Work': String(work), 'X-Stop': String(stops), 'X-Then': then },
  });
}

/** Different answers. */
export const texts = (answers: readonly WireResponse[]): string[] => [
  ...new Set(answers.map(({ status, text }) => `${status} ${text}`)),
];
