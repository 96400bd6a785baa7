import express from 'express';
import { bindRequest, dto, fromHeader, guid, idempotency, int, optional } from '../../lib';
import type { AnyType, IdempotencyOptions } from '../../lib';
import { documentOf, type Operation } from '../support/described';

const ID = '3F2504E0-4F89-11D3-9A0C-0305E82C3301';

describe('the header of the key is described', () => {
  const keyHeader = async (options: IdempotencyOptions, Dto: AnyType = dto({ a: int })) => {
    const app = express();
    app.post('/', idempotency(options), bindRequest(Dto));
    const { paths } = documentOf(app);
    return (paths['/']?.['post'] as Operation).parameters?.filter(one => one.in === 'header') ?? [];
  };

  it.each<[string, IdempotencyOptions, object]>([
    [
      'by default',
      {},
      {
        name: 'Idempotency-Key',
        required: true,
        description: expect.stringMatching(/ for 600 seconds\. Another request with this key runs\.$/) as string,
        schema: { type: 'string', minLength: 1 },
      },
    ],
    [
      'with what happens to another request that has it',
      { whenKeyReused: 'reject', cacheDuration: 86_400_000 },
      {
        description: expect.stringMatching(
          / for 86400 seconds\. Another .* with this key is refused with 422\.$/,
        ) as string,
      },
    ],
    ['under its name', { headerName: 'X-Key', whenKeyMissing: 'run' }, { name: 'X-Key', required: false }],
    ['in the words of the application', { swaggerHeaderDescription: 'Mine.' }, { description: 'Mine.' }],
    [
      'by the shape of its example',
      { swaggerExampleGenerator: () => 42 },
      { example: 42, schema: { type: 'integer' } },
    ],
    [
      'by its type',
      { swaggerHeaderType: guid, swaggerExampleGenerator: () => ID },
      { example: ID, schema: { type: 'string', format: 'uuid' } },
    ],
    ['by its pattern', { keyPattern: /^[a-z]+$/ }, { schema: { pattern: '^[a-z]+$' } }],
    [
      'by its pattern in words, if JSON Schema cannot say it',
      { keyPattern: /^(?<a>x)$/i },
      { schema: { description: 'It must match the JavaScript regular expression /^(?<a>x)$/i.' } },
    ],
    [
      'by its pattern in words, if it is a number',
      { keyPattern: /^\d{3}$/, swaggerHeaderType: int },
      { schema: { type: 'integer', description: 'It must match the JavaScript regular expression /^\\d{3}$/.' } },
    ],
  ])('%s', async (_what, options, header) => {
    expect(await keyHeader(options)).toMatchObject([header]);
  });

  it('once, if the dto has the header, too', async () => {
    const Dto = dto({ key: fromHeader(optional(guid), { name: 'idempotency-key' }) });
    expect(await keyHeader({}, Dto)).toEqual([expect.objectContaining({ name: 'Idempotency-Key', required: true })]);
  });

  it.each<[string, IdempotencyOptions, boolean]>([
    ['any text', {}, true],
    ['an example of another shape', { swaggerExampleGenerator: () => 42 }, false],
    ['a pattern, which they may not have', { keyPattern: /^[a-f\d-]{36}$/ }, false],
    ['a type that they have', { swaggerHeaderType: guid }, true],
    ['another type', { swaggerHeaderType: int }, false],
  ])('and whether it may be any UUID, for the page: %s', async (_what, options, takesUuids) => {
    expect(await keyHeader(options)).toMatchObject([{ 'x-idempotency-key': { takesUuids } }]);
  });

  it('not by an example that is a promise: the error says so', async () => {
    const swaggerExampleGenerator = (): unknown => Promise.reject(new Error('down'));
    await expect(keyHeader({ swaggerExampleGenerator })).rejects.toThrow(
      'returned a promise. Return the example itself',
    );
  });
});
