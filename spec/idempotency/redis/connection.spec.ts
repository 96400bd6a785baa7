import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { dialogueWith } from '../../../lib/idempotency/redis/dialogue';

const request = new AsyncLocalStorage<string>();

/** A client that notes in which request it is connected. */
class NotingClient extends EventEmitter {
  readonly connectedIn: unknown[] = [];
  isOpen = false;

  connect(): Promise<void> {
    this.connectedIn.push(request.getStore());
    this.isOpen = true;
    return Promise.resolve();
  }

  destroy(): void {
    this.isOpen = false;
  }

  eval(): Promise<string> {
    return Promise.resolve('');
  }
}

const clients: [name: string, make: () => { client: object; connected: NotingClient }][] = [
  [
    'node-redis',
    () => {
      const client = new NotingClient();
      return { client, connected: client };
    },
  ],
  [
    'a Cluster of node-redis, one of its nodes,',
    () => {
      const [client, connected] = [new NotingClient(), new NotingClient()];
      client.isOpen = true;
      return {
        client: Object.assign(client, { slots: [], masters: [{ client: connected }], replicas: [] }),
        connected,
      };
    },
  ],
  [
    'ioredis',
    () => {
      const client = new NotingClient();
      const members = {
        pipeline: () => client,
        status: 'end',
        isCluster: false,
        quit: () => 'OK',
        disconnect: () => {},
      };
      return { client: Object.assign(client, members, { isOpen: undefined }), connected: client };
    },
  ],
];

describe.each(clients)('a client of %s that a request connects', (_name, make) => {
  it('does not keep the AsyncLocalStorage of that request', async () => {
    const { client, connected } = make();
    await request.run('a request', async () => {
      // The answer is not one of Redis.
      await dialogueWith(client)
        ?.ask('script', ['key'], [])
        .catch(() => undefined);
    });
    expect(connected.connectedIn).toEqual([undefined]);
  });
});
