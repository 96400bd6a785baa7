import { once } from 'node:events';
import { Duplex } from 'node:stream';

/** A connection that is not a socket: `server.emit('connection', connection)`. What the client sends is pushed. */
export class DuplexConnection extends Duplex {
  written = '';
  readonly ended = once(this, 'finish');

  override _read(): void {
    // What is pushed is there.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written += String(chunk);
    this.emit('written');
    done();
  }

  /** Waits until the server has sent a text. */
  async reads(text: string): Promise<void> {
    while (!this.written.includes(text)) await once(this, 'written');
  }
}
