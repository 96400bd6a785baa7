import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import KeyvRedis, { createClient } from '@keyv/redis';
import { Keyv } from 'keyv';
import { redisLeases, type RedisClient } from '../../../lib';
import { RedisServer } from '../../support/servers/redis-server';
import { clientOf } from './deployment';
import { Shop } from '../../support/shop';

/** Commands of the client, and what they are given. */
type Eval = (script: string, options: { keys: string[]; arguments: string[] }) => Promise<unknown>;
type Breakable = Extract<RedisClient, { eval: Eval }> & { removeAllListeners(event: string): unknown };

const KEYS = Array.from({ length: 12 }, (_, index) => `order ${index}`);

let redis: RedisServer;
const sockets: Socket[] = [];
const opened = (message: unknown): void => {
  sockets.push((message as { socket: Socket }).socket);
};

beforeAll(async () => {
  redis = await RedisServer.start();
  subscribe('net.client.socket', opened);
});
afterAll(async () => {
  unsubscribe('net.client.socket', opened);
  await redis.stop();
});

/** A shop, its client, and the connection of the client. */
async function openShop(): Promise<{ shop: Shop; client: Breakable; connection: () => Socket | undefined }> {
  const store = new Keyv(new KeyvRedis({ url: redis.url, socket: { reconnectStrategy: 10 } }));
  const shop = await Shop.open(store, { storeTimeout: 1_000 });
  const client = clientOf(store) as Breakable;
  expect(await shop.outcome('before')).toBe('ran');
  return {
    shop,
    client,
    connection: () => sockets.findLast(socket => socket.remotePort === redis.port && !socket.destroyed),
  };
}

/** Breaks the connection when a command has been given to the client, and not yet been written. */
function breakAtNextCommand(client: Breakable, connection: () => Socket | undefined): void {
  const given = client.eval.bind(client) as Eval;
  client.eval = (script, options) => {
    client.eval = given;
    const answer = given(script, options);
    connection()?.destroy(new Error('read ECONNRESET'));
    return answer;
  };
}

describe('a client of node-redis whose connection breaks between giving a command and writing it', () => {
  it('goes on, each command with its own answer', async () => {
    const { shop, client, connection } = await openShop();
    for (let round = 0; round < 5; round++) {
      breakAtNextCommand(client, connection);
      const keys = KEYS.map(key => `${key}, round ${round}`);
      const outcomes = await Promise.all(keys.map(key => shop.outcome(key)));
      expect(new Set(outcomes)).toEqual(new Set(['ran']));
      for (const key of keys) expect(JSON.parse((await shop.order(key)).text)).toEqual({ key });
    }
    expect(new Set(shop.runs).size).toBe(shop.runs.length);
    await shop.close();
  });

  it('goes on after a single command, with nothing behind it that would bring the connection about', async () => {
    const { shop, client, connection } = await openShop();
    breakAtNextCommand(client, connection);
    expect(await shop.outcome('alone')).toBe('ran');
    expect(await shop.outcome('alone')).toBe('replayed');
    await shop.close();
  });

  it('loses count without bindonce; then no command gets the answer to another, and the connection is replaced', async () => {
    const { shop, client, connection } = await openShop();
    await Promise.all(KEYS.map(key => shop.outcome(key)));
    client.removeAllListeners('reconnecting');
    breakAtNextCommand(client, connection);
    const answers = await Promise.all(
      [...KEYS, 'new 1', 'new 2', 'new 3'].map(async key => ({ key, ...(await shop.order(key)) })),
    );
    const wrong = answers.filter(
      ({ key, status, text }) => status !== 503 && (JSON.parse(text) as { key?: string }).key !== key,
    );
    expect(wrong).toEqual([]);
    expect(new Set(shop.runs).size).toBe(shop.runs.length);
    expect(await shop.outcomeInTheEnd('after')).toBe('ran');
    await shop.close();
  });
});

describe('an answer to another command', () => {
  it('is not a lease: nothing runs', async () => {
    const { shop, client } = await openShop();
    const given = client.eval.bind(client) as Eval;
    const earlier = [given('return 1', { keys: ['k'], arguments: [] })];
    client.eval = (script, options) => {
      const answer = given(script, options);
      answer.catch(() => undefined);
      earlier.push(answer);
      return earlier.shift() ?? Promise.resolve();
    };
    expect(await Promise.all(KEYS.map(key => shop.outcome(key)))).toEqual(KEYS.map(() => 503));
    expect(shop.runs).toEqual(['before']);
    client.eval = given;
    await shop.close();
  });

  it('does not replace the connection of a client that is closing, which would wait for its commands for ever', async () => {
    const connected = createClient({ url: redis.url });
    const leases = redisLeases(connected);
    expect(await leases.acquire('key', 'token', 10_000)).toEqual({ kind: 'acquired' });
    const client = connected as unknown as { eval: Eval; close(): Promise<void> };
    const given = client.eval.bind(client);
    let closed: Promise<void> | undefined;
    client.eval = async (_script, options) => {
      const answer = await given('return 1', options);
      given('return 2', options).catch(() => undefined);
      closed = client.close();
      return answer;
    };
    await expect(leases.release('key', 'token')).rejects.toThrow('the answer to another command');
    await closed;
  });

  it.each<[title: string, answer: (other: string) => unknown]>([
    ['the response of another', other => other],
    ['nothing', () => undefined],
    ['an acknowledgement', () => 'OK'],
  ])('is not a response, and nothing runs again: %s', async (_title, answerOf) => {
    const { shop, client } = await openShop();
    await Promise.all(['mine', 'yours'].map(key => shop.outcome(key)));
    const commands = client as unknown as { get(key: string): Promise<unknown>; eval: Eval };
    const [get, evaluate] = [commands.get.bind(client), commands.eval.bind(client)];
    const [yours = ''] = (await redis.ask('KEYS', `*${shop.cacheKeys.get('yours') ?? ''}:*`)) as string[];
    const other = String(await get(yours));
    let swapped = 0;
    commands.get = () => {
      swapped++;
      return Promise.resolve(answerOf(other));
    };
    // What is asked next is answered by what was asked before, as long as the responses are.
    commands.eval = (script, options) => (swapped > 0 ? Promise.resolve('OK') : evaluate(script, options));
    expect((await shop.order('mine')).status).toBe(503);
    expect(swapped).toBeGreaterThan(1);
    [commands.get, commands.eval] = [get, evaluate];
    expect(await shop.outcome('mine')).toBe('replayed');
    expect(shop.runs.filter(key => key === 'mine')).toEqual(['mine']);
    await shop.close();
  });
});
