import express from 'express';
import { BigNumber, bindRequest, dateTime, decimal, dto, long, uri, type OperationOptions } from '../../../lib';
import { documentOf, type Operation } from '../../support/described';

class Payment extends dto({ id: long, amount: decimal, at: dateTime, page: uri }) {}
const options = { allowFormData: true } as const;

/** The examples of a body, by media type, in a document that JSON can hold. */
function examplesOf(examples: OperationOptions['examples']): Record<string, unknown> {
  const app = express();
  app.post('/', bindRequest(Payment, { ...options, openapi: { ...(examples && { examples }) } }));
  const { paths } = JSON.parse(JSON.stringify(documentOf(app))) as ReturnType<typeof documentOf>;
  const { content = {} } = (paths['/']?.['post'] as Operation).requestBody ?? {};
  return Object.fromEntries(
    Object.entries(content).map(([type, one]) => [type, (one as { readonly examples?: unknown }).examples]),
  );
}

it('the examples of a body are written as JSON, whatever they hold', () => {
  const value = {
    id: 9007199254740993n,
    amount: new BigNumber('12.50'),
    at: new Date(0),
    page: new URL('http://a.example'),
    none: null,
    parts: [5n, undefined],
  };
  const written = {
    id: '9007199254740993',
    amount: '12.5',
    at: '1970-01-01T00:00:00.000Z',
    page: 'http://a.example/',
    none: null,
    parts: [5, null],
  };
  const examples = { small: { summary: 'One', value: written }, none: { value: null } };
  expect(examplesOf({ small: { summary: 'One', value }, none: { value: null } })).toEqual({
    'application/json': examples,
    'multipart/form-data': examples,
  });
});

it('one that JSON has no form for is named in the error', () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  expect(() => examplesOf({ small: { value: () => 1 } })).toThrow(
    'openapi: POST /: the example "small": JSON has no form for a function',
  );
  expect(() => examplesOf({ small: { value: cyclic } })).toThrow(
    'openapi: POST /: the example "small": it cannot be written as JSON (Converting circular structure',
  );
});

it.each<[string, object]>([
  ['text', { small: 'abc' }],
  ['null', { small: null }],
  ['the value itself', { small: { id: 5 } }],
])('one that is %s instead of an object with a value is refused when the middleware is made', (_what, examples) => {
  const openapi = { examples } as OperationOptions;
  expect(() => bindRequest(Payment, { openapi })).toThrow(
    'bindRequest: openapi: examples must be an object of { summary, value } by name, not an object with small',
  );
});
