import { serve } from '../../support/serve';
import { leastTimes, NOISE, processorTime, worked } from '../../support/processor-time';
import express from 'express';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { bindRequest, bool, dateTime, decimal, double, dto, enumOf, fromQuery, guid, int, lazy } from '../../../lib';
import { list, long, nullable, optional, string, timeSpan, uri, version } from '../../../lib';
import type { AnyType } from '../../../lib';
import type { Sent } from '../../support/ask';
import { fakeIntervals } from '../../support/fake-intervals';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Target extends dto({ t: optional(list(string)), n: optional(int), name: optional(string) }) {}
class Exact extends dto({
  t: optional(list(string)),
  n: optional(int),
  name: optional(string),
  price: optional(decimal),
}) {}

/** Milliseconds of work within which a hostile request is answered; what these guard against takes minutes. */
const QUICK = 5_000;

const repeat = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join('');

describe('a bounded, quick answer', () => {
  it.each<[string, Sent, readonly number[]]>([
    ['an index of 4294967294 in a query', { path: '/?t[4294967294]=x' }, [400]],
    ['an index of 4294967294 in a form', { form: 't[4294967294]=x' }, [400]],
    ['an index of 4294967294 in a multipart form', { multipart: 't[4294967294]=x' }, [400]],
    ['an index that nobody declared', { multipart: 'other[4294967294]=x' }, [200]],
    ['an index of a thousand digits', { form: [[`t[${'9'.repeat(1_000)}]`, 'x']] }, [200, 400]],
    ['3,000 levels of [a] in a query', { path: `/?t${'[a]'.repeat(3_000)}=x` }, [200, 400]],
    ['10,000 levels of [a] in a form', { form: `t${'[a]'.repeat(10_000)}=x` }, [200, 400]],
    ['10,000 levels of [a] in a multipart form', { multipart: [[`t${'[a]'.repeat(10_000)}`, 'x']] }, [400, 413]],
    ['100,000 fields', { form: repeat(100_000, index => `f${index}=&`) }, [413]],
    ['100,000 fields of one name', { form: repeat(100_000, () => 't=x&') }, [413]],
    ['30,000 multipart fields', { multipart: Array.from({ length: 30_000 }, () => ['t', 'x'] as const) }, [413]],
    [
      '60 MB of multipart fields, none of them too large by itself',
      { multipart: Array.from({ length: 60 }, () => ['x', 'x'.repeat(1_000_000)] as const) },
      [413],
    ],
    ['JSON that is 500,000 arrays deep', { json: '['.repeat(500_000) + ']'.repeat(500_000) }, [400]],
    ['JSON with 100,000 objects in each other', { json: `${'{"t":'.repeat(100_000)}1${'}'.repeat(100_000)}` }, [400]],
    ['JSON text 500,000 arrays deep in a form', { form: `t=${'['.repeat(500_000)}` }, [200, 400]],
    ['numbers of 450,000 digits', { json: `{"n":${'9'.repeat(450_000)},"price":${'9'.repeat(450_000)}}` }, [400]],
    ['1e999999999', { json: '{"n":1e999999999,"price":1e999999999}' }, [400]],
    ['90,000 unknown JSON fields', { json: `{${repeat(90_000, index => `"${index}":1,`)}"name":"x"}` }, [200]],
    ['300,000 commas', { form: [['t', ','.repeat(300_000)]] }, [200, 400]],
    ['900,000 spaces', { json: ' '.repeat(900_000) }, [200]],
  ])('%s', async (_what, sent, allowed) => {
    for (const Dto of [Target, Exact]) {
      const started = worked();
      const { status, response } = await bind(Dto, sent, urlEncoded);
      expect(worked() - started).toBeLessThan(QUICK);
      expect(allowed.includes(status) || (Dto === Target && status === 200)).toBe(true);
      expect(response.text.length).toBeLessThan(3_000);
    }
  });

  it('30 levels of a type that refers to itself, on forty branches', async () => {
    class Node extends dto({ name: optional(string), c: list(lazy((): AnyType => Node)) }) {}
    class Tree extends dto({ tree: fromQuery(Node) }) {}
    const branches = Array.from({ length: 40 }, (_, index) => `c.x${index}.${'c.'.repeat(28)}z=1`);
    const started = worked();
    expect((await bind(Tree, { method: 'GET', path: `/?${branches.join('&')}` })).status).toBe(200);
    expect(worked() - started).toBeLessThan(QUICK);
  });

  it.each([
    ['with its length declared', {}],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }],
  ])('50 MB of JSON %s: the client is told, and not cut off while it sends the rest', async (_how, headers) => {
    // A client that sends nothing for 5 seconds loses its connection, also if the machine stands still.
    fakeIntervals();
    const app = express().post('/', bindRequest(Target), (_req, res) => {
      res.json(null);
    });
    const { url } = await serve(app);
    const upload = request(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers } });
    upload.end(Buffer.alloc(50_000_000, ' '));
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    await once(response.resume(), 'end');
    if (!upload.writableFinished) await once(upload, 'finish');
  });

  it.each([
    ['escapes', '%61&'.repeat(3_500)],
    ['broken escapes', '%&'.repeat(7_000)],
    ['names with parts', 'a.b&'.repeat(3_500)],
  ])('a query of %s costs no more where 99 required objects are missing than where one is', async (_of, query) => {
    const missing = (count: number): AnyType =>
      dto(Object.fromEntries(Array.from({ length: count }, (_, index) => [`o${index}`, dto({ street: string })])));
    const [one, many] = await leastTimes(
      ...[missing(1), missing(99)].map(Dto => () => bind(Dto, { method: 'GET', path: `/?${query}` })),
    );
    expect(many).toBeLessThan(4 * Number(one) + NOISE);
  });
});

describe('names that JavaScript objects know', () => {
  const names = [
    ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'],
    ...['__proto__[polluted]', 'constructor[prototype][polluted]', '__proto__.polluted', '[__proto__]'],
    ...['t[__proto__]', 't[constructor]'],
  ];
  const x = ['name', 'x'] as const;

  it.each<[string, (name: string) => Sent]>([
    ['the query', name => ({ path: `/?${encodeURIComponent(name)}=yes&name=x` })],
    ['a form', name => ({ form: [[name, 'yes'], x] })],
    ['a multipart form', name => ({ multipart: [[name, 'yes'], x] })],
    ['file names', name => ({ multipart: [[name, new File(['x'], name)], x] })],
    ['JSON', name => ({ json: `{${JSON.stringify(name)}:{"polluted":"yes","name":"y"},"name":"x"}` })],
    ['cookies', name => ({ form: 'name=x', headers: { Cookie: `${name}=yes` } })],
    ['headers', name => ({ form: 'name=x', headers: /^(?!__proto__)\w+$/.test(name) ? { [name]: 'yes' } : {} })],
  ])('change nothing in %s', async (_source, sent) => {
    for (const name of names) {
      const { dto: bound } = await bind(Target, sent(name), urlEncoded);
      expect(bound).toStrictEqual(Object.assign(new Target(), { name: 'x' }));
      expect(Object.getPrototypeOf(bound)).toBe(Target.prototype);
    }
    expect(['polluted' in {}, 'polluted' in Target.prototype, 'polluted' in []]).toEqual([false, false, false]);
  });
});

it('a list of lists with 340,000 wrong objects is answered as quickly, with a hundred failures', async () => {
  // Eight failures in each: what is not listed must not be put into words.
  const missing = {
    sku: string,
    quantity: int,
    unit: string,
    colour: string,
    size: int,
    shelf: string,
    comment: string,
  };
  class Line extends dto({ ...missing, price: int }) {}
  class Exactly extends dto({ ...missing, price: decimal }) {}
  const json = `[${Array.from({ length: 34 }, () => `[${Array.from({ length: 10_000 }, () => '{}').join()}]`).join()}]`;
  for (const Dto of [Line, Exactly]) {
    const started = worked();
    const { status, errors } = await bind(list(list<AnyType>(Dto)), { json });
    expect(worked() - started).toBeLessThan(QUICK);
    expect([status, errors.length]).toEqual([400, 100]);
  }
});

const numbers = { int, long, double, decimal };
const types: Record<string, AnyType> = {
  ...{ ...numbers, bool, dateTime, timeSpan, guid, uri, version, enum: enumOf(['a', 'b']) },
  ...{ list: list(double), dto: dto({ x: int }), nullable: nullable(decimal) },
};

it.each(Object.entries(numbers))('%s looks at the length of a text of a megabyte first', async (_name, type) => {
  const One = dto({ v: type as AnyType });
  // The patterns of numbers are the only ones that look for digits and signs alone.
  const looked: number[] = [];
  const exec = RegExp.prototype.exec;
  const spy = jest.spyOn(RegExp.prototype, 'exec').mockImplementation(function look(this: RegExp, text: string) {
    if (this.source.startsWith('^[+-]')) looked.push(text.length);
    return exec.call(this, text);
  });
  try {
    for (const text of ['1'.repeat(1_000_000), `${' '.repeat(1_000_000)}1`, `0.${'0'.repeat(1_000_000)}1`]) {
      expect((await bind(One, { form: [['v', text]] }, urlEncoded)).status).toBe(400);
      expect((await bind(One, { json: { v: text } })).status).toBe(400);
    }
    expect((await bind(One, { json: `{"v":${'1'.repeat(1_000_000)}}` })).status).toBe(400);
  } finally {
    spy.mockRestore();
  }
  expect(looked.filter(length => length > 1_200)).toEqual([]);
});

/** Long enough to tell a reader that looks at each character once from one that looks again and again. */
const LENGTH = 100_000;
const parts = ['1', 'a', '.', ' ', '-', ':', '0.', '1.', '1,', '[', '{', '{}', 'P1D', 'T1', '1e', '00:00.', ' 1'];
const texts = parts.map(part => `${part.repeat(LENGTH / part.length)}x`);

it.each(Object.entries(types))('%s refuses long nonsense as quickly as short', async (_name, type) => {
  const One = dto({ v: type });
  const ms = await processorTime(async () => {
    for (const text of texts) {
      expect((await bind(One, { form: [['v', text]] }, urlEncoded)).status).toBe(400);
      expect((await bind(One, { json: { v: text } })).status).toBe(400);
    }
  });
  // A reader that looks again and again takes minutes.
  expect(ms).toBeLessThan(5_000);
});
