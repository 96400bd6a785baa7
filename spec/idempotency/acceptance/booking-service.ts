import { join } from 'node:path';
import { send, type WireResponse } from '../../support/listen';
import { NodeProcess } from '../../support/servers/node-process';
import { RunLog } from '../../support/run-log';

const script = join(__dirname, '../../support/programs/booking-server.mjs');

/** How a run is to go; no part of the request's identity. */
export interface Run {
  /** Milliseconds that it takes. */
  readonly work?: number;
  /** Its process stops as soon as it has said that it runs. */
  readonly stops?: boolean;
  readonly then?: 'answer' | 'forget' | 'reject' | 'exit' | 'exitAtOnce' | 'exitOnceWritten';
}

/** Processes of one service, and what its handlers say of themselves. */
export class BookingService {
  readonly log = new RunLog();
  private readonly processes: NodeProcess[] = [];

  async start(env: Readonly<Record<string, string>>, options: object = {}): Promise<NodeProcess> {
    const started = await NodeProcess.start(script, {
      LOG: this.log.file,
      OPTIONS: JSON.stringify(options),
      ...env,
    });
    this.processes.push(started);
    return started;
  }

  /** Ends all processes. None of them may have left a rejection to nobody. */
  async stop(): Promise<void> {
    const ended = this.processes.splice(0);
    await Promise.all(ended.map(one => one.kill()));
    this.log.remove();
    expect(
      ended.flatMap(({ output }) => output).filter(line => /^unhandled (?!Error: The handler gave up)/.test(line)),
    ).toEqual([]);
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
