import { exactText, WrittenNumber } from '../../../lib/binding/types/write-value';
import express, { type ErrorRequestHandler } from 'express';
import { z } from 'zod';
import { bindRequest, dto, int, optional, serializerContext, type AnyType } from '../../../lib';
import { ask } from '../../support/ask';

const value = { a: new WrittenNumber('9007199254740993'), b: [new WrittenNumber('-0.10')], c: '1' };

it('numbers are written with their digits, and nothing else is changed', () => {
  expect(exactText(value)).toBe('{"a":9007199254740993,"b":[-0.10],"c":"1"}');
  expect(exactText(value, 1)).toBe('{\n "a": 9007199254740993,\n "b": [\n  -0.10\n ],\n "c": "1"\n}');
  expect(exactText(undefined)).toBe(undefined);
});

it('a replacer that changes texts does not change exact numbers', () => {
  const replace = (_key: string, one: unknown): unknown => (typeof one === 'string' ? one.slice(0, 3) : one);
  expect(exactText({ ...(value as object), d: 'hello' }, undefined, replace)).toBe(
    '{"a":9007199254740993,"b":[-0.10],"c":"1","d":"hel"}',
  );
});

it('a replacer may return bigints', () => {
  const replace = (key: string, one: unknown): unknown => (key === 'c' ? 2n ** 64n : one);
  expect(exactText(value, undefined, replace)).toBe('{"a":9007199254740993,"b":[-0.10],"c":18446744073709551616}');
});

const schema = z.object({ name: z.string() });
const made = { name: 'x' };
const written = (type: AnyType, value: unknown): string =>
  serializerContext({ responses: { 200: type } }).write(200, value);

it.each<[string, unknown, string]>([
  ['an object', made, '{"name":"x"}'],
  ['an object with undeclared properties', { ...made, age: 1 }, '{"name":"x","age":1}'],
  ['an array', [made], '[{"name":"x"}]'],
  ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ['an object that is like a promise, but says what its JSON is', { then: () => 1, toJSON: () => 'x' }, '"x"'],
  ['an object with a text named then', { then: 'x' }, '{"then":"x"}'],
  ['null', null, 'null'],
  ['text', 'x', '"x"'],
])('%s is written as it is', (_what, value, text) => {
  expect(written(z.any(), value)).toBe(text);
});

it('res.json() with a promise is an error, and no answer with status 200', async () => {
  const app = express();
  app.get('/', bindRequest(dto({ page: optional(int) }), { responses: { 200: schema } }), (_req, res) => {
    res.json(Promise.resolve(made));
  });
  const answerError: ErrorRequestHandler = (error: Error, _req, res, next) => {
    if (res.headersSent) next();
    else res.status(500).send(error.message);
  };
  app.use(answerError);
  const { status, text } = await ask(app, { method: 'GET' });
  expect({ status, text }).toEqual({ status: 500, text: expect.stringContaining('await it first') as string });
});
