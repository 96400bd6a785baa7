import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import express from 'express';
import Keyv from 'keyv';
import { idempotency } from '../../../../../lib';
import { EventLog } from '../../../../support/event-log';
import { send } from '../../../../support/listen';
import { keyed } from '../../../../support/replays';
import { serve } from '../../../../support/serve';
import { makeCertificate, type Certificate } from '../../../../support/servers/redis-certificate';
import { freePort, RedisServer } from '../../../../support/servers/redis-server';
import { redisDeployment, twoApplicationsOn } from '../deployment';

/** What the README says that a user needs. */
const PERMISSIONS = '~* &* +@read +@write +@scripting +@pubsub +@connection +info'.split(' ');
const NO_DEFAULT_USER = ['--user', 'default', 'off'];

describe.each<[string, string[], string]>([
  ['behind a password', ['--requirepass', 'se:cret'], ':se%3Acret'],
  ['behind a user', [...NO_DEFAULT_USER, '--user', 'shop', 'on', '>se:cret', ...PERMISSIONS], 'shop:se%3Acret'],
])('a Redis %s', (name, settings, credentials) => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start(...settings);
  });
  afterAll(() => redis.stop());
  redisDeployment(
    `a Redis ${name}, by URL`,
    () => new Keyv(new KeyvRedis(`redis://${credentials}@127.0.0.1:${redis.port}`)),
  );
  redisDeployment(
    `a Valkey ${name}, by URL`,
    () => new Keyv(new KeyvValkey(`redis://${credentials}@127.0.0.1:${redis.port}`, { useRedisSets: false })),
  );
});

/** In Redis 7, a user has no channels unless they are given, and PUBLISH is refused inside a script too. */
describe('a Redis whose user has no channels', () => {
  let redis: RedisServer;
  const url = (): string => `redis://shop:secret@127.0.0.1:${redis.port}`;
  beforeAll(async () => {
    redis = await RedisServer.start(
      ...NO_DEFAULT_USER,
      '--user',
      ...'shop on >secret ~* resetchannels +@all'.split(' '),
    );
  });
  afterAll(() => redis.stop());
  twoApplicationsOn('@keyv/redis without channels', () => new Keyv(new KeyvRedis(url())));
  twoApplicationsOn('@keyv/valkey without channels', () => new Keyv(new KeyvValkey(url(), { useRedisSets: false })));
});

describe('a Redis that speaks TLS only', () => {
  let redis: RedisServer;
  let certificate: Certificate;
  let url: string;
  beforeAll(async () => {
    certificate = makeCertificate();
    const port = await freePort();
    url = `rediss://127.0.0.1:${port}`;
    redis = await RedisServer.start(...certificate.settings(port));
  });
  afterAll(async () => {
    await redis.stop();
    certificate.remove();
  });

  const trusting = () => ({ url, socket: { tls: true as const, ca: certificate.authority } });
  redisDeployment('a Redis over TLS', () => new Keyv(new KeyvRedis(trusting())));
  redisDeployment(
    'a Valkey over TLS',
    () => new Keyv(new KeyvValkey(url, { tls: { ca: certificate.authority }, useRedisSets: false })),
  );

  it('is not spoken to by a client that does not trust its certificate', async () => {
    const store = new Keyv(new KeyvRedis({ url, socket: { reconnectStrategy: false } }));
    await expect(store.get('anything')).resolves.toBeUndefined();
  });
});

it('a server that is not there is named by the error of the event: its client answers nothing', async () => {
  const port = await freePort();
  const store = new Keyv(new KeyvRedis(`redis://127.0.0.1:${port}`));
  const log = new EventLog();
  const guard = idempotency({ store, storeTimeout: 200, onEvent: log.onEvent });
  const { url } = await serve(express().post('/', guard, (_req, res) => void res.send('x')));
  try {
    expect((await send(url, { headers: keyed('k') })).status).toBe(503);
    const { error } = await log.first('store-failed');
    expect(String(error)).toBe(
      `StoreUnavailable: acquire() of the lease store did not answer within 200 ms (storeTimeout): connect ECONNREFUSED 127.0.0.1:${port}. Check the store and its connection.`,
    );
  } finally {
    await store.disconnect();
  }
});
