import { runInNewContext } from 'node:vm';
import express from 'express';
import { bindRequest, configure, dto, idempotency, memoryLeases, openapi, postgresLeases } from '../../lib';
import { redisLeases, serializerContext, string } from '../../lib';
import type { IdempotencyOptions } from '../../lib';

class Line extends dto({ sku: string }) {}
class Config {
  readonly headerName = 'X-Key';
}

/** Each function with the value as its options, and its name in the message. */
const takers: readonly [string, (options: never) => unknown][] = [
  ['idempotency', options => idempotency(options)],
  ['idempotency', options => configure().idempotency(options)],
  ['idempotency', options => configure({ idempotency: options })],
  ['bindRequest', options => bindRequest(Line, options)],
  ['bindRequest', options => configure().bindRequest(Line, options)],
  ['bindRequest', options => configure({ binding: options })],
  ['bindRequest: limits', options => bindRequest(Line, { limits: options })],
  ['configure', options => configure(options)],
  ['serializerContext', options => serializerContext(options)],
  ['memoryLeases', options => memoryLeases(options)],
  ['redisLeases', options => redisLeases({} as never, options)],
  ['postgresStore', options => postgresLeases({ query: () => 1, connect: () => 1 } as never, options)],
  ['openapi', options => openapi(express(), options)],
];

describe.each<[string, unknown, string]>([
  ['a promise', Promise.resolve({ scope: () => 'tenant' }), 'a promise: await it first'],
  ['what has a then()', { then: () => undefined }, 'a promise: await it first'],
  ['a Map', new Map([['scope', () => 'tenant']]), 'an instance of Map'],
  ['an array', [], 'an empty array'],
  // Its options may be getters, which a copy would miss.
  ["an instance of the application's", new Config(), 'an instance of Config'],
])('%s is no options object:', (_what, options, shown) => {
  it.each(takers)('%s', (owner, take) => {
    expect(() => take(options as never)).toThrow(`${owner}: options must be an object, not ${shown}`);
  });
});

it.each<[unknown, string]>([
  [null, 'null'],
  ['wait', '"wait"'],
  [() => undefined, 'a function'],
])('%p is none either, and is shown', (options, shown) => {
  expect(() => idempotency(options as IdempotencyOptions)).toThrow(`options must be an object, not ${shown}`);
});

it.each<[string, unknown, string]>([
  ['a promise', Promise.resolve(), 'a promise: await it first'],
  ['a Map', new Map(), 'an instance of Map'],
])('%s is no value of an option either, and the message says what it is', (_what, value, shown) => {
  expect(() => idempotency({ store: value as never })).toThrow(
    new TypeError(`idempotency: store must be a Keyv, for example new Keyv(adapter), not ${shown}`),
  );
  expect(() => idempotency({ leases: value as never })).toThrow(`when they are called, not ${shown}`);
});

it.each<[string, unknown]>([
  ['another realm', runInNewContext('({ headerName: "X Key" })')],
  ['no prototype', Object.assign(Object.create(null) as object, { headerName: 'X Key' })],
])('an object of %s may hold options, which are checked', (_what, options) => {
  expect(() => idempotency(options as IdempotencyOptions)).toThrow(
    new TypeError('idempotency: headerName must be an HTTP header name, not "X Key"'),
  );
});
