import { fork, type ChildProcess } from 'node:child_process';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { MOST_EVENTS, type Message, type ShopEvent } from './messages';

/** A process of the shop. A number is not used twice. */
interface ShopProcess {
  readonly number: number;
  readonly child: ChildProcess;
  /** Connections that are on their way to it. */
  readonly passing: Set<Socket>;
}

/**
 * The processes of the shop. They get the connections of a server by turns, and each gets the events of all. One that
 * dies is replaced; while there is none, connections wait.
 */
export class Processes {
  private readonly running = new Set<ShopProcess>();
  /** Those that take connections; the next one is the first. */
  private readonly open: ShopProcess[] = [];
  private readonly waiting: Socket[] = [];
  private readonly events: ShopEvent[] = [];
  /** The processes that take a payment now, by request. */
  private readonly paying = new Map<string, ShopProcess>();
  private started = 0;
  private isStopping = false;

  /** @param onOpen is called when the first process is open. */
  constructor(
    count: number,
    private readonly server: Server,
    private onOpen: () => void,
  ) {
    server.on('connection', socket => this.pass(socket));
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.stop(signal));
    for (let index = 0; index < count; index++) this.start();
  }

  private start(): void {
    const number = ++this.started;
    const one = { number, child: fork(join(__dirname, 'shop.js'), [String(number)]), passing: new Set<Socket>() };
    this.running.add(one);
    one.child.on('message', (message: Message) => this.receive(one, message)).on('exit', code => this.end(one, code));
  }

  private pass(socket: Socket): void {
    const one = this.open.shift();
    if (!one) {
      this.waiting.push(socket);
      return;
    }
    this.open.push(one);
    one.passing.add(socket);
    // Kept open until it is sent: if the process has just died, another one gets the connection.
    one.child.send('connection', socket, { keepOpen: true }, error => {
      if (!error && one.passing.delete(socket)) socket.destroy();
    });
  }

  private receive(one: ShopProcess, message: Message): void {
    if (message.kind === 'crash') ([...this.paying.values()].at(-1) ?? one).child.kill('SIGKILL');
    else if (message.kind !== 'complaint') this.follow(one, message);
    // All processes notice that the Redis is away; the oldest says so, even if it opens later than the others.
    else if ([...this.running].every(({ number }) => number >= one.number)) console.error(message.text);
  }

  private follow(one: ShopProcess, event: ShopEvent): void {
    if (event.kind === 'process-started') this.admit(one);
    else if (event.kind === 'paying') this.paying.set(event.request, one);
    else if ('request' in event) this.paying.delete(event.request);
    this.publish(event);
  }

  /** Lets a process take connections. */
  private admit(one: ShopProcess): void {
    for (const event of this.events) one.child.send(event, ignored);
    this.open.unshift(one);
    for (const socket of this.waiting.splice(0)) this.pass(socket);
    this.onOpen();
    this.onOpen = ignored;
  }

  private publish(event: ShopEvent): void {
    this.events.push(event);
    if (this.events.length > MOST_EVENTS) this.events.shift();
    for (const { child } of this.open) child.send(event, ignored);
  }

  private end(one: ShopProcess, code: number | null): void {
    this.running.delete(one);
    for (const [request, payer] of this.paying) if (payer === one) this.paying.delete(request);
    if (this.isStopping) return;
    if (!this.open.includes(one)) {
      // It could not open, and has said why. Another one could not either.
      process.exitCode = code || 1;
      this.stop('SIGTERM');
      return;
    }
    this.open.splice(this.open.indexOf(one), 1);
    this.publish({ kind: 'process-ended', at: Date.now(), process: one.number });
    this.start();
    for (const socket of one.passing) this.pass(socket);
    one.passing.clear();
  }

  private stop(signal: NodeJS.Signals): void {
    this.isStopping = true;
    this.server.close();
    for (const socket of this.waiting) socket.destroy();
    for (const { child } of this.running) child.kill(signal);
  }
}

/** With a callback, a message to a process that has just died is not an uncaught error. */
const ignored = (): void => undefined;
