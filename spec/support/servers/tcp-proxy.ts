import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** What becomes of the bytes on the way. */
type Manner = 'passes' | 'drops requests' | 'drops answers' | 'stalls' | 'refuses';

/**
 * Stands between a process and a server, counts how often the process waits for the server, and can lose what goes over it as
 * a network does: with its connections.
 */
export class TcpProxy {
  /** Times that the server has answered something; what the process has sent together is answered together. */
  answers = 0;
  private manner: Manner = 'passes';
  private readonly pairs = new Set<readonly [near: Socket, far: Socket]>();
  /** Answers that still get through before one is lost; undefined: all do. */
  private left: number | undefined;
  private lost: (answer: string) => void = () => undefined;
  private resets = false;

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on('connection', near => {
      this.join(near);
    });
  }

  static async before(target: number): Promise<TcpProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(server, target);
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

  /** Requests are lost for `ms` milliseconds, and then the connections. */
  dropRequests(ms: number): Promise<void> {
    return this.lose('drops requests', ms);
  }

  /** The server does as it is asked, but its answers are lost for `ms` milliseconds, and then the connections. */
  dropAnswers(ms: number): Promise<void> {
    return this.lose('drops answers', ms);
  }

  /** Nothing moves for `ms` milliseconds; nothing is lost. */
  async stall(ms: number): Promise<void> {
    this.manner = 'stalls';
    for (const socket of [...this.pairs].flat()) socket.pause();
    await pause(ms);
    this.manner = 'passes';
    for (const socket of [...this.pairs].flat()) socket.resume();
  }

  /** The server is out of reach: connections break, and new ones do too. */
  cut(): void {
    this.manner = 'refuses';
    this.break();
  }

  /** The server is there again. */
  mend(): void {
    this.manner = 'passes';
  }

  async close(): Promise<void> {
    this.server.close();
    this.break();
    await once(this.server, 'close');
  }

  private async lose(manner: Manner, ms: number): Promise<void> {
    this.manner = manner;
    await pause(ms);
    this.break();
    this.manner = 'passes';
  }

  /** Every other time with a reset, which clients learn of at another moment than of an end. */
  private break(): void {
    for (const [near, far] of this.pairs) {
      if (this.resets) near.resetAndDestroy();
      else near.destroy();
      far.destroy();
    }
    this.resets = !this.resets;
  }

  private join(near: Socket): void {
    if (this.manner === 'refuses') {
      near.destroy();
      return;
    }
    const far = connect(this.target, '127.0.0.1');
    const pair = [near, far] as const;
    this.pairs.add(pair);
    for (const socket of pair) {
      socket.setNoDelay();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
      if (this.manner === 'stalls') socket.pause();
    }
    let isWaiting = false;
    near.on('end', () => far.end());
    near.on('data', (question: Buffer) => {
      isWaiting = true;
      if (this.manner !== 'drops requests') far.write(question);
    });
    far.on('data', (answer: Buffer) => {
      if (isWaiting) this.answers++;
      isWaiting = false;
      if (this.left !== undefined && this.left-- === 0) {
        this.left = undefined;
        near.destroy();
        this.lost(answer.toString());
      } else if (this.manner !== 'drops answers') near.write(answer);
    });
  }
}
