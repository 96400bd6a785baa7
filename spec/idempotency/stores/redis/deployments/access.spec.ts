import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import express from 'express';
import Keyv from 'keyv';
import { idempotency } from '../../../../../lib';
import { EventLog } from '../../../../support/event-log';
import { send } from '../../../../support/listen';
import { keyed } from '../../../../support/replays';
import { serve } from '../../../../support/serve';
import { freePort, RedisServer } from '../../../../support/servers/redis-server';
import { twoApplicationsOn } from '../deployment';

const NO_DEFAULT_USER = ['--user', 'default', 'off'];

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

it('a server that is not there is 503 and an event with an error: its client answers nothing', async () => {
  const port = await freePort();
  const store = new Keyv(new KeyvRedis(`redis://127.0.0.1:${port}`));
  const log = new EventLog();
  const guard = idempotency({ store, storeTimeout: 200, onEvent: log.onEvent });
  const { url } = await serve(express().post('/', guard, (_req, res) => void res.send('x')));
  try {
    expect((await send(url, { headers: keyed('k') })).status).toBe(503);
    const { error } = await log.first('store-failed');
    expect(String(error)).toBe(
      `StoreUnavailable: acquire() of the lease store did not answer within 200 ms (storeTimeout). Check the store and its connection.`,
    );
  } finally {
    await store.disconnect();
  }
});
