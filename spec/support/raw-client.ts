import { connect, type Socket } from 'node:net';

const KEYED = ['Idempotency-Key: k'];

/** A request without a body, with these header lines, as it goes over the wire. */
export const requestTo = (port: number, path = '/', lines: readonly string[] = KEYED): string =>
  [`POST ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...lines, 'Content-Length: 0', '', ''].join('\r\n');

/** Resolves when a connection is closed, by an error, too. */
export const closing = (socket: Socket): Promise<unknown> => new Promise(resolve => socket.once('close', resolve));

/** A client that decides by itself which bytes it sends and when, and that may stop half-way. */
export class RawClient {
  readonly socket: Socket;
  /** All that has been received. */
  text = '';
  private readonly waiting = new Set<() => void>();

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1').on('error', () => undefined);
    this.socket.on('data', chunk => {
      this.text += chunk.toString('latin1');
      for (const look of this.waiting) look();
    });
  }

  /** A client that has sent a request without a body, with the key `k` unless its header lines are given. */
  static asks(port: number, path?: string, lines?: readonly string[]): RawClient {
    const client = new RawClient(port);
    void client.send(Buffer.from(requestTo(port, path, lines), 'latin1'));
    return client;
  }

  /** Sends bytes; resolves when the operating system has them. */
  send(bytes: string | Buffer): Promise<void> {
    return new Promise(resolve => void this.socket.write(bytes, () => resolve()));
  }

  /** Resolves when what has been received looks like this. */
  until(end: RegExp): Promise<void> {
    return new Promise(resolve => {
      const look = (): void => {
        if (!end.test(this.text)) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
    });
  }

  /** Resolves with the status of the first response when its head has arrived, or with undefined after `ms` milliseconds. */
  status(ms: number): Promise<number | undefined> {
    return new Promise(resolve => {
      const settle = (status: number | undefined): void => {
        clearTimeout(timer);
        this.waiting.delete(look);
        resolve(status);
      };
      const timer = setTimeout(settle, ms, undefined);
      const look = (): void => {
        const [, status] = /^HTTP\/1\.1 ([2-5]\d\d)/m.exec(this.text) ?? [];
        if (status !== undefined) settle(Number(status));
      };
      this.waiting.add(look);
      look();
    });
  }

  /** Resolves with all that was received when the connection is closed. */
  async closed(): Promise<string> {
    if (!this.socket.closed) await closing(this.socket);
    return this.text;
  }

  leave(): void {
    this.socket.destroy();
  }
}

/** A piece of a body as one chunk of the chunked transfer coding. */
export function chunk(bytes: string | Buffer): Buffer {
  const data = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);
}

export const LAST_CHUNK = '0\r\n\r\n';
