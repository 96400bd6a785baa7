import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { dto, idempotency, int, list, optional, plainText, string } from '../../../lib';
import type { Sent } from '../../support/ask';
import { expressVersions } from '../../support/express-versions';
import { bind } from '../../support/one-endpoint';

class Order extends dto({ sku: string, n: optional(int) }) {}
class Text extends dto({ text: plainText() }) {}

const sent = (type: string | undefined, body = '{"sku":"tea","n":1}'): Sent => ({
  key: randomUUID(),
  body,
  headers: type === undefined ? {} : { 'Content-Type': type },
});

describe.each(expressVersions)('on %s', (_version, framework) => {
  const json: RequestHandler = framework.json({ type: () => true, strict: false });
  const types = [undefined, 'text/plain', 'Text/Plain; charset=utf-8'];

  it.each(types)('JSON that express.json() has read under the type %p is bound', async type => {
    const ways = [[json], [json, idempotency()], [idempotency(), json]];
    for (const before of ways) {
      const { status, dto: bound } = await bind(Order, sent(type), { framework, before });
      expect([status, bound]).toEqual([200, { sku: 'tea', n: 1 }]);
      expect((await bind(list(int), sent(type, '[1,2]'), { framework, before })).dto).toEqual([1, 2]);
      const wrong = await bind(Order, sent(type, '{"n":"x"}'), { framework, before });
      expect(wrong.errors.map(({ name, in: source }) => [name, source])).toEqual([
        ['n', 'json'],
        ['sku', 'json'],
      ]);
    }
  });

  it.each(types)('a body of the type %p that nobody has read as JSON gets 415', async type => {
    const text: RequestHandler = framework.text({ type: () => true });
    for (const before of [[], [framework.json()], [text]])
      expect((await bind(Order, sent(type), { framework, before })).status).toBe(415);
  });

  it('what a parser has made of another type is no JSON', async () => {
    const { status } = await bind(Order, sent('application/xml'), { framework, before: [json] });
    expect(status).toBe(415);
  });

  it('jsonTypes names further types that are JSON, in any case, whoever reads them', async () => {
    const jsonTypes = ['text/plain', 'Application/CSP-Report'];
    for (const before of [[], [json], [idempotency()]])
      for (const type of ['text/plain', 'TEXT/plain;charset=utf-8', 'application/csp-report', 'application/json']) {
        const { dto: bound } = await bind(Order, sent(type), { framework, before, jsonTypes });
        expect(bound).toEqual({ sku: 'tea', n: 1 });
      }
    expect((await bind(Order, sent('text/html'), { framework, jsonTypes })).status).toBe(415);
    expect((await bind(Order, sent('text/plain', '{'), { framework, jsonTypes })).problem?.type).toBe(
      'urn:bindonce:body-malformed',
    );
  });

  it('plainText() is the text of the body, whatever jsonTypes says', async () => {
    const { dto: bound } = await bind(Text, sent('text/plain'), { framework, jsonTypes: ['text/plain'] });
    expect(bound).toEqual({ text: '{"sku":"tea","n":1}' });
  });
});

it.each([['text'], ['text/plain; charset=utf-8'], ['*'], [''], [7]])('jsonTypes with %j is refused', async type => {
  await expect(async () => bind(Order, {}, { jsonTypes: [type as string] })).rejects.toThrow(
    'bindRequest: jsonTypes must be an array of media types without parameters, not',
  );
});
