import { connect, type Socket } from 'node:net';

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

  /** Sends bytes; resolves when the operating system has them. */
  send(bytes: string | Buffer): Promise<void> {
    return new Promise(resolve => {
      this.socket.write(bytes, () => {
        resolve();
      });
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

  /** Resolves when the connection is closed. */
  async closed(): Promise<void> {
    if (!this.socket.closed)
      await new Promise(resolve => {
        this.socket.once('close', resolve);
      });
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
