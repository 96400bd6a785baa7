import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * Stands between a process and a server, counts how often the process waits for the server, and can lose an answer of the
 * server as a network does: with its connection. It can also be slow.
 */
export class TcpProxy {
  /** Times that the server has answered something; what the process has sent together is answered together. */
  answers = 0;
  /** Times that the process has connected. */
  connections = 0;
  private readonly sockets = new Set<Socket>();
  /** Answers that still get through before one is lost; undefined: all do. */
  private left: number | undefined;
  private lost: (answer: string) => void = () => undefined;
  private isCut = false;
  private bytesPerMs = Infinity;

  private constructor(
    private readonly server: Server,
    private target: number,
  ) {}

  static async before(target: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, target);
    server
      .on('connection', near => {
        proxy.join(near);
      })
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Loses the answer after the next `count`, when the server has carried out what it answers. @returns the lost answer. */
  loseAfter(count: number): Promise<string> {
    this.left = count;
    return new Promise(resolve => {
      this.lost = resolve;
    });
  }

  /** The server is out of reach: connections break, and new ones do too. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  /** The server is there again. */
  mend(): void {
    this.isCut = false;
  }

  /** The connections that there are go silent, as if a router had forgotten them; new ones work. */
  silence(): void {
    for (const socket of this.sockets) socket.pause().removeAllListeners('data');
  }

  /** What travels from now on, either way, takes its time. */
  slowDown(bytesPerSecond: number): void {
    this.bytesPerMs = bytesPerSecond / 1_000;
  }

  /** Waits until the process connects once more. */
  async connected(): Promise<void> {
    await once(this.server, 'connection');
  }

  /** Leads new connections to another server; those that there are stay. */
  leadTo(port: number): void {
    this.target = port;
  }

  async close(): Promise<void> {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await once(this.server, 'close');
  }

  private join(near: Socket): void {
    if (this.isCut) {
      near.destroy();
      return;
    }
    this.connections++;
    const far = connect(this.target, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(one);
      one
        .on('error', () => undefined)
        .on('close', () => {
          this.sockets.delete(one);
          other.destroy();
        });
    }
    let isWaiting = false;
    near
      .on('data', (question: Buffer) => {
        isWaiting = true;
        far.write(question);
        this.delay(near, question);
      })
      .on('end', () => {
        far.end();
      });
    far.on('data', (answer: Buffer) => {
      this.delay(far, answer);
      if (isWaiting) this.answers++;
      isWaiting = false;
      if (this.left === undefined || this.left-- > 0) {
        near.write(answer);
        return;
      }
      this.left = undefined;
      near.destroy();
      this.lost(answer.toString());
    });
  }

  /** Reads nothing more from a socket for as long as these bytes travel. */
  private delay(from: Socket, { length }: Buffer): void {
    const ms = length / this.bytesPerMs;
    if (ms === 0) return;
    from.pause();
    setTimeout(() => {
      from.resume();
    }, ms).unref();
  }
}
