import { createHash } from 'node:crypto';
import { request } from 'node:http';
import KeyvRedis from '@keyv/redis';
import Keyv from 'keyv';
import type { RecordedResponse } from '../../../lib';
import { responsesIn } from '../../../lib/idempotency/stores/keyv-like';
import { guarded } from '../../support/guarded';
import { keyed } from '../../support/replays';
import { RedisServer } from '../../support/servers/redis-server';
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

describe.each<[string, () => Keyv]>([
  ['a Map with a namespace', () => new Keyv({ store: new Map(), namespace: 'ns' })],
  ['a store that takes its time', () => new Keyv({ store: new SlowMap() })],
])('responses in a Keyv on %s', (_title, make) => {
  it('are read as they were written, under key and token, until they are deleted', async () => {
    const responses = responsesIn(make());
    await responses.set('k', 't', RESPONSE, 60_000);
    const read = () =>
      Promise.all([responses.get('k', 't', 2_000), responses.get('k', 'u', 2_000), responses.get('l', 't', 2_000)]);
    expect(await read()).toEqual([RESPONSE, undefined, undefined]);
    await responses.delete('k', 't');
    expect(await read()).toEqual([undefined, undefined, undefined]);
  });
});

it('responses are read once for those who ask together, unless the answer does not come', async () => {
  const answer = signal();
  let asked = 0;
  class Counting extends Map<string, unknown> {
    override get(key: string): unknown {
      return (++asked === 1 ? answer.happened : Promise.resolve()).then(() => super.get(key));
    }
  }
  const responses = responsesIn(new Keyv({ store: new Counting() }));
  await responses.set('k', 't', RESPONSE, 60_000);
  const together = [responses.get('k', 't', 2_000), responses.get('k', 't', 2_000)];
  expect(await responses.get('k', 't', 0)).toEqual(RESPONSE);
  answer.happens();
  expect(await Promise.all(together)).toEqual([RESPONSE, RESPONSE]);
  expect(asked).toBe(2);
});

const LOST = {
  type: 'urn:bindonce:response-unavailable',
  title: 'The response is no longer available',
  status: 409,
  detail:
    'The request was executed before and is not executed again, but its response is not available. Do not retry; look up the result.',
  instance: '/',
};
const BUSY = { type: 'urn:bindonce:store-unavailable', status: 503 };

it.each<[how: string, damage: (text: string, theirs: string) => string | undefined, problem: object]>([
  ['is not there any more gets 409', () => undefined, LOST],
  ['is text of another program gets 409', () => '{"value":"x"}', LOST],
  ['is of another version gets 409', text => text.replace('version\\":1', 'version\\":2'), LOST],
  [
    'has a line break in a header gets 500',
    text => text.replace('"X-A\\",\\"1', '"X-A\\",\\"1\\\\r\\\\nX-B: 1'),
    { status: 500 },
  ],
  ['is of another key gets 503: it is the answer to another question, and nobody gets it', (_, theirs) => theirs, BUSY],
])('a request whose stored response %s; nothing runs again', async (_how, damage, problem) => {
  const map = new Map<string, string>();
  const { post, runs } = await guarded({ store: new Keyv({ store: map }) }, (_req, res) => res.set('X-A', '1').end());
  await post({ key: 'theirs' });
  await post();
  const [theirs = '', own = ''] = [...map.keys()];
  const damaged = damage(map.get(own) ?? '', map.get(theirs) ?? '');
  expect(damaged).not.toBe(map.get(own));
  if (damaged === undefined) map.clear();
  else map.set(own, damaged);
  const { status, text, headers } = await post();
  expect(status === 500 ? { status } : JSON.parse(text)).toEqual(expect.objectContaining(problem));
  expect([headers['x-b'], runs()]).toEqual([undefined, 2]);
});

describe('a hundred duplicates that wait for one response of 5 MB', () => {
  const REPORT = Buffer.alloc(5_000_000, 'report ');
  const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

  /** Sends a request and keeps only the digest of its answer. */
  const ask = (url: string, key: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers: keyed(key), agent: false }, response => {
        const hash = createHash('sha256');
        response.on('data', (chunk: Buffer) => hash.update(chunk)).on('error', reject);
        response.on('end', () => resolve(`${response.statusCode} ${hash.digest('hex')}`));
      });
      sent.on('error', reject).end();
    });

  it('cost one read of Redis, and neither they nor a hundred other requests get a 503', async () => {
    const redis = await RedisServer.start();
    const store = new Keyv(new KeyvRedis(redis.url));
    const reads = jest.spyOn(store, 'get');
    const finish = signal();
    let arrived = 0;
    const { url, log, runs } = await guarded(
      // This process also reads 500 MB. A read is shared for half of storeTimeout.
      { store, waitTimeout: 60_000, storeTimeout: 60_000 },
      async (req, res) => {
        if (req.idempotency.key !== 'k') return res.json({ small: true });
        await finish.happened;
        return res.send(REPORT);
      },
      { before: [(_req, _res, next) => next(void arrived++)] },
    );
    const reports = Array.from({ length: 101 }, () => ask(url, 'k'));
    while (arrived < 101) await new Promise(setImmediate);
    finish.happens();
    const others = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(url, `other ${index}`)));
    expect(new Set(others)).toEqual(new Set([`200 ${digestOf(Buffer.from('{"small":true}'))}`]));
    expect(new Set(await Promise.all(reports))).toEqual(new Set([`200 ${digestOf(REPORT)}`]));
    const waited = log.kinds.filter(kind => kind === 'waited').length;
    expect([runs(), waited, log.kinds.includes('store-failed'), reads.mock.calls.length]).toEqual([101, 100, false, 1]);
    await store.disconnect();
    await redis.stop();
  });
});
