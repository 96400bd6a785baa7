import { z } from 'zod';
import { dto, fromForm, fromQuery, optional } from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';

/** zod has one message for any value that is not one of these, so that `{}` and `x` are refused alike. */
class Item extends dto({ size: optional(z.enum(['s', 'm'])) }) {}
class Query extends dto({ item: fromQuery(Item) }) {}
class Form extends dto({ item: fromForm(Item) }) {}

describe('a value of a schema that no name continues below', () => {
  it.each([
    ['in a query', (size: string) => bind(Query, { path: `/?size=${size}` })],
    ['in a form', (size: string) => bind(Form, { form: [['size', size]] }, urlEncoded)],
  ])('is the value, also where it may be missing: %s', async (_where, send) => {
    expect((await send('m')).dto).toEqual({ item: { size: 'm' } });
    const { status, errors } = await send('x');
    expect([status, errors]).toEqual([
      400,
      [{ name: 'size', in: expect.any(String) as string, detail: 'Invalid option: expected one of "s"|"m"' }],
    ]);
  });
});
