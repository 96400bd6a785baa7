import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import KeyvRedis from '@keyv/redis';
import Keyv from 'keyv';
import type { RecordedResponse } from '../../../lib';
import { responsesIn } from '../../../lib/idempotency/stores/keyv-like';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { NodeProcess } from '../../support/servers/node-process';
import { RedisServer } from '../../support/servers/redis-server';
import { Shop } from '../../support/shop';
import { signal } from '../../support/signal';
import { SlowMap } from '../../support/slow-map';

const RESPONSE: RecordedResponse = {
  status: 201,
  reason: 'So it is',
  headers: [
    ['X-A', '1'],
    ['Set-Cookie', ['a=1', 'b=ü']],
  ],
  body: Buffer.from(Array.from({ length: 256 }, (_, index) => index)),
  trailers: [['X-T', '2']],
};

/** An adapter as that of a server: it cannot be counted. */
class Adapter {
  readonly opts = {};
  readonly data = new Map<string, unknown>();
  asked = 0;
  before = (): unknown => undefined;
  on(): this {
    return this;
  }
  async get(key: string): Promise<unknown> {
    this.asked++;
    await this.before();
    return this.data.get(key);
  }
  async set(key: string, value: unknown): Promise<void> {
    this.data.set(key, value);
  }
  async delete(key: string): Promise<boolean> {
    return this.data.delete(key);
  }
  clear(): void {
    this.data.clear();
  }
}

describe.each<[string, () => Keyv]>([
  ['a Map with a namespace', () => new Keyv({ store: new Map(), namespace: 'ns' })],
  ['a store that takes its time', () => new Keyv({ store: new SlowMap() })],
  ['an adapter', () => new Keyv({ store: new Adapter() as never })],
  ['no serialisation', () => Object.assign(new Keyv(), { serialize: undefined, deserialize: undefined })],
])('responses in a Keyv on %s', (_title, make) => {
  it('are read as they were written, under key and token, until they are deleted', async () => {
    const responses = responsesIn(make());
    await responses.set('k', 't', RESPONSE, 60_000);
    expect(await responses.get('k', 't', 2_000)).toEqual(RESPONSE);
    expect([await responses.get('k', 'u', 2_000), await responses.get('l', 't', 2_000)]).toEqual([
      undefined,
      undefined,
    ]);
    await responses.delete('k', 't');
    expect(await responses.get('k', 't', 2_000)).toBeUndefined();
  });
});

describe('responses', () => {
  it('are read once for those who ask together, unless the answer does not come', async () => {
    const adapter = new Adapter();
    const responses = responsesIn(new Keyv({ store: adapter as never }));
    await responses.set('k', 't', RESPONSE, 60_000);
    const answer = signal();
    adapter.before = () => (adapter.asked === 1 ? answer.happened : undefined);
    const together = [responses.get('k', 't', 2_000), responses.get('k', 't', 2_000)];
    expect(await responses.get('k', 't', 0)).toEqual(RESPONSE);
    answer.happens();
    expect(await Promise.all(together)).toEqual([RESPONSE, RESPONSE]);
    expect(adapter.asked).toBe(2);
  });
});

describe('a damaged response on Redis', () => {
  let redis: RedisServer;
  let shop: Shop;
  beforeAll(async () => {
    redis = await RedisServer.start();
    shop = await Shop.open(new Keyv(new KeyvRedis(redis.url)));
  });
  afterAll(async () => {
    await shop.close();
    await redis.stop();
  });

  /** Puts other text in the place of a response that was stored. @returns the answer to a retry. */
  const replaced = async (what: string, text: string): Promise<[status: number, type: string]> => {
    expect(await shop.outcome(what)).toBe('ran');
    const [key = ''] = (await redis.ask('KEYS', `*${shop.cacheKeys.get(what) ?? ''}:*`)) as string[];
    await redis.ask('SET', key, text);
    const answer = await shop.order(what);
    expect(shop.runs.filter(run => run === what)).toHaveLength(1);
    return [answer.status, (JSON.parse(answer.text) as { type: string }).type];
  };

  it('gets 409: the request has run, and its response is lost', async () => {
    expect(await replaced('text of another program', '{"value":"x"}')).toEqual([
      409,
      'urn:bindonce:response-unavailable',
    ]);
  });

  it('that is of another key gets 503: it is the answer to another question, and nobody gets it', async () => {
    await shop.order('theirs');
    const [theirs = ''] = (await redis.ask('KEYS', `*${shop.cacheKeys.get('theirs') ?? ''}:*`)) as string[];
    const text = String(await redis.ask('GET', theirs));
    expect(await replaced('of another key', text)).toEqual([503, 'urn:bindonce:store-unavailable']);
  });
});

describe('a hundred duplicates that wait for one response of 5 MB', () => {
  let server: NodeProcess | undefined;
  afterEach(() => server?.kill());

  const REPORT = createHash('sha256').update(Buffer.alloc(5_000_000, 'report ')).digest('hex');

  /** Sends a request and keeps only the digest of its answer. */
  const ask = (url: string, key: string): Promise<{ status: number; replayed: unknown; digest: string }> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers: keyed(key), agent: false }, response => {
        const hash = createHash('sha256');
        response.on('data', (chunk: Buffer) => hash.update(chunk)).on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response;
          resolve({ status, replayed: headers['idempotent-replayed'], digest: hash.digest('hex') });
        });
      });
      sent.on('error', reject).end();
    });

  it('cost one read of Redis, and neither they nor a hundred other requests get a 503', async () => {
    const redis = await RedisServer.start();
    server = await NodeProcess.start(join(__dirname, '../../support/programs/report-server.mjs'), {
      REDIS_URL: redis.url,
      OPTIONS: JSON.stringify({ waitTimeout: 60_000, storeTimeout: 10_000 }),
    });
    const { url } = server;
    const reports = Array.from({ length: 101 }, () => ask(`${url}/report`, 'k'));
    const get = async (path: string): Promise<unknown> => JSON.parse((await send(url + path, { method: 'GET' })).text);
    while ((await get('/waiting')) !== 101) await pause(20);
    await send(`${url}/finish`);
    const others = Array.from({ length: 100 }, (_, index) => ask(`${url}/small`, `other ${index}`));
    const answers = await Promise.all(reports);
    const statuses = (await Promise.all(others)).map(({ status }) => status);
    const fared = (await get('/fared')) as {
      runs: number;
      reads: number;
      events: Record<string, number>;
      slowest: number;
    };
    await redis.stop();
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(new Set(answers.map(({ status, digest }) => `${status} ${digest}`))).toEqual(new Set([`200 ${REPORT}`]));
    expect(answers.filter(({ replayed }) => replayed === 'true')).toHaveLength(100);
    expect([fared.runs, fared.events['waited'], fared.events['store-failed']]).toEqual([1, 100, undefined]);
    // A read is shared for half of storeTimeout: while the process stands still, that may be over before the next one asks.
    expect(fared.reads).toBeLessThanOrEqual(1 + Math.floor(fared.slowest / 5_000));
  });
});
