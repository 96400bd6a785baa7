import Keyv from 'keyv';
import { redisLeases, type RedisClient } from '../../../lib';

describe('a value that is not a Redis client is refused, and the error says what it is', () => {
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a URL', 'redis://:secret@host', 'text: make a client with it first, for example createClient({ url })'],
    ['a function', () => undefined, 'a function: call it, and pass the client that it returns'],
    ['a promise', Promise.resolve(), 'a promise: await it first'],
    ['a Keyv', new Keyv(), 'a Keyv store: pass that as `store`, and `leases` are made from it; or pass its client'],
    ['options with a client', { client: {} }, 'an object with `client`: pass the client itself, redisLeases(client)'],
    ['another object', { get: () => undefined }, 'an object without eval, connect, isOpen'],
    ['a client of an old version', { eval: () => undefined }, 'an object without connect, isOpen'],
  ])('%s', (_what, given, what) => {
    expect(() => redisLeases(given as RedisClient)).toThrow(
      new TypeError(
        `redisLeases: client must be a client of node-redis, ioredis or iovalkey, not ${what}. For example: createClient({ url }) of redis, or new Redis(url) of ioredis.`,
      ),
    );
  });
});
