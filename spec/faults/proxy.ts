import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** What the way to the store does with the bytes on it. */
type Manner = 'passes' | 'drops requests' | 'drops answers' | 'stalls';

/** The way from one server to the store, which can lose what goes over it. */
export class Proxy {
  private manner: Manner = 'passes';
  private resets = false;
  private readonly pairs = new Set<readonly [server: Socket, store: Socket]>();

  private constructor(
    private readonly listening: Server,
    private readonly storePort: number,
  ) {
    listening.on('connection', socket => {
      this.join(socket);
    });
  }

  static async to(storePort: number): Promise<Proxy> {
    const listening = createServer().listen(0, '127.0.0.1');
    await once(listening, 'listening');
    return new Proxy(listening, storePort);
  }

  get port(): number {
    return (this.listening.address() as AddressInfo).port;
  }

  /** Requests are lost for `ms` milliseconds, and then the connections. */
  dropRequests(ms: number): Promise<void> {
    return this.lose('drops requests', ms);
  }

  /** The store does as it is asked, but its answers are lost for `ms` milliseconds, and then the connections. */
  dropAnswers(ms: number): Promise<void> {
    return this.lose('drops answers', ms);
  }

  /** Nothing moves for `ms` milliseconds; nothing is lost. */
  async stall(ms: number): Promise<void> {
    this.manner = 'stalls';
    for (const pair of this.pairs) for (const socket of pair) socket.pause();
    await pause(ms);
    this.manner = 'passes';
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
  }

  close(): void {
    this.listening.close();
    this.cut();
  }

  private async lose(manner: Manner, ms: number): Promise<void> {
    this.manner = manner;
    await pause(ms);
    this.cut();
    this.manner = 'passes';
  }

  /** Every other time with a reset, which clients learn of at another moment than of an end. */
  private cut(): void {
    this.resets = !this.resets;
    for (const [server, store] of this.pairs) {
      if (this.resets) server.resetAndDestroy();
      else server.destroy();
      store.destroy();
    }
  }

  private join(server: Socket): void {
    const store = connect(this.storePort, '127.0.0.1');
    const pair = [server, store] as const;
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
    server.on('data', bytes => {
      if (this.manner !== 'drops requests') store.write(bytes);
    });
    store.on('data', bytes => {
      if (this.manner !== 'drops answers') server.write(bytes);
    });
  }
}
