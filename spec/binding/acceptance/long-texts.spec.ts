import {
  bool,
  dateTime,
  decimal,
  double,
  dto,
  enumOf,
  guid,
  int,
  list,
  long,
  nullable,
  timeSpan,
  uri,
  version,
  type AnyType,
} from '../../../lib';
import { processorTime } from '../../support/processor-time';
import { bind, urlEncoded } from '../../support/one-endpoint';

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
