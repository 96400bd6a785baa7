import { date, dto, field, fromForm, fromHeader, fromQuery, int, list, optional, string } from '../../../lib';
import type { AnyType, Fail, ProblemError } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

const LATE = { detail: 'must not be before from' };

class Stay extends dto({ from: date, to: field(date, { jsonPropertyName: 'until', bindFrom: 'end' }) }) {
  static check(stay: Stay, fail: Fail<Stay>): void {
    if (stay.to < stay.from) fail('to', LATE.detail);
  }
}

const failuresOf = async (Dto: AnyType, sent: Sent): Promise<readonly ProblemError[]> =>
  (await bind<AnyType>(Dto, sent, { route: '/{:id}', ...urlEncoded })).errors;

const [first, second] = ['2026-11-28', '2026-11-29'];

it.each<[string, Sent, Partial<ProblemError>]>([
  ['JSON', { json: { from: second, until: first } }, { name: 'until', in: 'json', pointer: '/until' }],
  ['a form', { form: `from=${second}&end=${first}` }, { name: 'end', in: 'form' }],
  ['a query', { path: `/?from=${second}&end=${first}`, headers: { 'Content-Length': '0' } }, { in: 'json' }],
])('the dto of a request is checked, from %s', async (_source, sent, expected) => {
  expect(await failuresOf(Stay, sent)).toEqual([expect.objectContaining({ ...LATE, ...expected })]);
  const valid = JSON.parse(JSON.stringify(sent).replaceAll(second, first)) as Sent;
  expect(await failuresOf(Stay, valid)).toEqual([]);
});

describe('a nested dto', () => {
  class Trip extends dto({ name: string, stays: list(Stay), tenant: fromHeader(string, { name: 'X-Tenant' }) }) {
    static check(_trip: Trip, fail: Fail<Trip>): void {
      fail('stays[0].to', 'never called where a stay is wrong');
    }
  }
  class FromForm extends dto({ stay: fromForm(Stay) }) {}
  class FromQuery extends dto({ page: optional(int), stay: fromQuery(Stay) }) {}

  it('is checked in the answer of all other failures, where its own properties are valid', async () => {
    const stays = [
      { from: second, until: first },
      { from: first, until: second },
      { from: second, until: 'x' },
    ];
    expect(await failuresOf(Trip, { json: { name: 'x', stays } })).toEqual([
      expect.objectContaining({ pointer: '/stays/2/until' }),
      expect.objectContaining({ in: 'header', name: 'X-Tenant' }),
      { ...LATE, in: 'json', name: 'stays[0].until', pointer: '/stays/0/until' },
    ]);
  });

  it('that takes a whole source has the names of that', async () => {
    expect(await failuresOf(FromForm, { form: `from=${second}&end=${first}` })).toEqual([
      { ...LATE, in: 'form', name: 'end' },
    ]);
    expect(await failuresOf(FromQuery, { path: `/?from=${second}&end=${first}` })).toEqual([
      { ...LATE, in: 'query', name: 'end' },
    ]);
  });
});

it('a check may be asynchronous, at the root and below, and gets asynchronous values', async () => {
  class Inner extends dto({ a: int.with({ check: async value => Promise.resolve(value > 0 || 'too small') }) }) {
    static async check({ a }: Inner, fail: Fail<Inner>): Promise<void> {
      await Promise.resolve();
      if (a > 9) fail('a', 'too large');
    }
  }
  class Outer extends dto({ inner: Inner }) {
    static async check({ inner }: Outer, fail: Fail<Outer>): Promise<void> {
      await Promise.resolve();
      if (inner.a === 7) fail('inner.a', 'not seven');
    }
  }
  const ask = async (a: number): Promise<unknown> =>
    (await failuresOf(Outer, { json: { inner: { a } } })).map(({ detail }) => detail);
  expect(await Promise.all([0, 1, 7, 10].map(ask))).toEqual([['too small'], [], ['not seven'], ['too large']]);
});

it('the check of the nearest class counts, and an error in it is an error of the application', async () => {
  class Longer extends Stay {
    static override check(): void {
      throw new Error('broken');
    }
  }
  class Inherited extends Stay {}
  const sent = { json: { from: second, until: first } };
  expect(await failuresOf(Inherited, sent)).toHaveLength(1);
  expect(await bind(Longer, sent)).toMatchObject({ status: 500, response: { text: 'broken' } });
});
