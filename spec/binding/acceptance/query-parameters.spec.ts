import type { Request } from 'express';
import { configure, int, queryValue, valueParserFor, type AnyType, type ParseResult } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { asking } from './without-dto';

class Sku {
  constructor(readonly code: string) {}

  static tryParse(text: string | undefined): ParseResult<Sku> {
    return /^[A-Z]{3}\d$/.test(text ?? '') ? { success: true, value: new Sku(text ?? '') } : { success: false };
  }
}

describe.each(expressVersions)('without a dto, %s', (_framework, framework) => {
  const reading = (query: string, read: (req: Request) => unknown) => asking(framework, '/', `/?${query}`, read);

  it.each<[string, AnyType, string, string]>([
    ['cannot be parsed', int, 'v=4x', 'The value "4x" is not a whole number from -2147483648 to 2147483647.'],
    ['is refused by its tryParse', Sku, 'v=tea', 'The value "tea" is not a Sku.'],
    ['is missing', int, 'w=4', 'This query parameter is required.'],
  ])(
    'a value that %s is answered with a validation failure, unless it is not required',
    async (_what, type, query, detail) => {
      expect(await reading(query, req => queryValue(req, 'v', type))).toEqual({
        status: 400,
        errors: [{ name: 'v', in: 'query', detail }],
      });
      expect(await reading(query, req => queryValue(req, 'v', type, { required: true }))).toMatchObject({
        status: 400,
      });
      expect(await reading(query, req => queryValue(req, 'v', type, { required: false }))).toEqual({
        value: 'nothing',
      });
    },
  );

  it('queryValue of configure() uses the value parsers of the application', async () => {
    const { queryValue: read } = configure({
      binding: { valueParsers: [valueParserFor(Sku, text => ({ success: true, value: new Sku(`parsed ${text}`) }))] },
    });
    expect(await reading('v=x', req => read(req, 'v', Sku))).toEqual({ value: { code: 'parsed x' } });
  });
});
