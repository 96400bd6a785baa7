import KeyvRedis from '@keyv/redis';
import express, { type Express } from 'express';
import { Keyv } from 'keyv';
import { idempotency, type IdempotencyMiddleware } from '../../lib';
import { send } from '../support/listen';
import { keyed } from '../support/replays';
import { serve } from '../support/serve';
import { RedisServer } from '../support/servers/redis-server';

const request = { headers: keyed('k', { 'Content-Type': 'application/json' }), body: '{"amount":4.5}' };

describe('a service that passes a request on, with its key, to one on the same Redis', () => {
  let redis: RedisServer;
  let stores: Keyv[];
  beforeEach(async () => {
    redis = await RedisServer.start();
    stores = [];
  });
  afterEach(async () => {
    for (const store of stores) await store.disconnect();
    await redis.stop();
  });

  /** A guard of one service. */
  function guardOf(namespace: string): IdempotencyMiddleware {
    const store = new Keyv(new KeyvRedis(redis.url), { namespace });
    stores.push(store);
    // As on one machine, or behind one gateway: neither service has a host of its own.
    return idempotency({ store, ignoreHost: true, waitTimeout: 100 });
  }

  /** A service whose handler asks another one for its answer. */
  const passingOn = (namespace: string, url: () => string): Express =>
    express().post('/charges', guardOf(namespace), async (_req, res) => {
      const { status, text } = await send(`${url()}/charges`, request);
      res.status(201).send(`the other answered ${status} ${text}`);
    });

  it('does not wait for itself if each has a namespace of its own', async () => {
    let runs = 0;
    const charges = await serve(
      express().post('/charges', guardOf('charges'), (_req, res) => void res.send(`run ${++runs}`)),
    );
    const orders = await serve(passingOn('orders', () => charges.url));
    for (const replayed of [undefined, 'true']) {
      const { text, headers } = await send(`${orders.url}/charges`, request);
      expect([text, headers['idempotent-replayed']]).toEqual(['the other answered 200 run 1', replayed]);
    }
  });

  it('gets 409 from a guard that shares its namespace, its own one, for example', async () => {
    const shop = await serve(passingOn('shop', () => shop.url));
    expect((await send(`${shop.url}/charges`, request)).text).toMatch(/^the other answered 409 .*request-in-flight/);
  });
});
