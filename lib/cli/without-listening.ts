import { once } from 'node:events';
import { Server } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { UsageError } from './usage-error';

/** The result of a module's code, and the servers that it would have started. */
interface LoadResult<T> {
  /** Undefined if the code waits for something that never happens, such as the end of its server. */
  readonly result: T | undefined;
  readonly servers: ReadonlySet<Server>;
}

/** Milliseconds that un-awaited code gets after its module has loaded. */
const REST = 1_000;

/**
 * Runs code of a module. Its servers do not listen. Code that waits until they do continues as if they did; otherwise,
 * they do nothing. Code without a result has started something that it does not await, perhaps: that goes on until
 * nothing is left to do, for a second at most.
 * @param path the module, for the message.
 * @param run gets the servers that have been started so far.
 * @param limit time that the code has, in milliseconds.
 * @throws UsageError for code that waits too long, or forever without having started a server.
 */
export async function withoutListening<T>(
  path: string,
  run: (servers: ReadonlySet<Server>) => Promise<T>,
  limit = 60_000,
): Promise<LoadResult<T>> {
  const servers = new Set<Server>();
  let isOver = false;
  Server.prototype.listen = function listen(this: Server, ...args: unknown[]) {
    servers.add(this);
    const callback = args.at(-1);
    if (typeof callback === 'function') this.once('listening', callback as () => void);
    // By now, code that does not wait is over.
    setImmediate(() => {
      if (!isOver) this.emit('listening');
    });
    return this;
  };
  Server.prototype.address = () => ({ address: '127.0.0.1', family: 'IPv4', port: 0 });
  const watch = new AbortController();
  const { signal } = watch;
  try {
    // Nothing is left that could continue the code.
    const idle = once(process, 'beforeExit', { signal }).then(() => 'never' as const);
    const end = await Promise.race([
      run(servers).then(result => ({ result })),
      idle,
      setTimeout(limit, 'late' as const, { signal, ref: false }),
    ]);
    if (typeof end === 'object') {
      if (end.result === undefined) await Promise.race([idle, setTimeout(REST, undefined, { signal, ref: false })]);
      return { ...end, servers };
    }
    if (end === 'never' && servers.size > 0) return { result: undefined, servers };
    const what = end === 'never' ? 'never finishes loading' : `has not been loaded within ${limit / 1_000} seconds`;
    throw new UsageError(
      `${path} ${what}: it waits for something, such as a connection. ` +
        'Name a module that exports the same and does not wait for anything.',
    );
  } finally {
    isOver = true;
    watch.abort();
  }
}
