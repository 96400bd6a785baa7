import express from 'express';
import {
  bindRequest,
  dto,
  file,
  fromForm,
  fromHeader,
  idempotency,
  int,
  list,
  plainText,
  string,
  type AnyType,
  type BindingOptions,
  type IdempotencyOptions,
} from '../../../lib';
import { documentOf, operationOf, type Operation } from '../../support/described';

class Line extends dto({ sku: string, tags: list(string) }) {}

function textOf(Dto: AnyType, options: BindingOptions, guard?: IdempotencyOptions): string | undefined {
  const app = express().post('/', ...(guard ? [idempotency(guard)] : []), bindRequest(Dto, options));
  return (documentOf(app).paths['/']?.['post'] as Operation).requestBody?.description;
}

describe('the limits of a body', () => {
  const small = { bodyBytes: 2_048, formBytes: 5_000, fileBytes: 1_000, files: 3, items: 7 };
  const form: BindingOptions = { allowFormData: true, limits: small };

  it.each<[string, AnyType, BindingOptions, IdempotencyOptions | undefined, string]>([
    ['of JSON', dto({ a: int }), {}, undefined, 'A body has at most 1 MiB.'],
    [
      'of lists that have a name',
      dto({ a: Line }),
      { limits: small },
      undefined,
      'A body has at most 2 KiB. A list has at most 7 items.',
    ],
    [
      'of a form',
      dto({ a: int }),
      form,
      undefined,
      'A body has at most 2 KiB. A multipart form has at most 5000 bytes, with 2 KiB of fields.',
    ],
    [
      'of files',
      dto({ f: file }),
      form,
      undefined,
      'A multipart form has at most 5000 bytes, with 2 KiB of fields and 3 files of 1000 bytes.',
    ],
    [
      'of idempotency(), if they are stricter',
      dto({ a: int }),
      {},
      { maxRequestBytes: 100 },
      'A body has at most 100 bytes.',
    ],
    [
      'of idempotency(), unless it does not read the body',
      dto({ a: int }),
      {},
      { maxRequestBytes: 100, ignoreRequestBody: true },
      'A body has at most 1 MiB.',
    ],
    [
      'of idempotency(), for files',
      dto({ f: file }),
      { allowFormData: true },
      { maxRequestBytes: 1_024 },
      'A multipart form has at most 1 KiB, with 1 KiB of fields and 100 files of 1 KiB.',
    ],
  ])('%s', (_what, Dto, options, guard, text) => {
    expect(textOf(Dto, options, guard)).toBe(text);
  });

  it('are those of the stricter endpoint, if two read the body', () => {
    const handlers = [5, 6].map(bodyBytes => bindRequest(dto({ a: int }), { limits: { bodyBytes } }));
    const other = bindRequest(dto({ h: fromHeader(string) }), { limits: { bodyBytes: 4 } });
    const app = express().post('/', ...([...handlers, other] as express.RequestHandler[]));
    const { requestBody } = documentOf(app).paths['/']?.['post'] as Operation;
    expect(requestBody?.description).toBe('A body has at most 5 bytes.');
  });

  it.each<[string, AnyType, object]>([
    ['plain text', dto({ t: plainText() }), { 'text/plain': { schema: { type: 'string', maxLength: 2_048 } } }],
    ['a list of JSON', list(string), { 'application/json': { schema: { type: 'array', maxItems: 7 } } }],
    [
      'a file, and the number of files',
      dto({ f: list(file) }),
      { 'multipart/form-data': { schema: { properties: { f: { maxItems: 3, items: { maxLength: 1_000 } } } } } },
    ],
    [
      'a file of a whole form',
      dto({ all: fromForm(dto({ f: file })) }),
      { 'multipart/form-data': { schema: { properties: { f: { maxLength: 1_000 } } } } },
    ],
  ])('are in the schema of %s', async (_what, Dto, content) => {
    expect((await operationOf(Dto, { options: form })).requestBody?.content).toMatchObject(content);
  });
});
