import { processorTime } from '../../support/processor-time';
import {
  bool,
  dateTime,
  decimal,
  double,
  dto,
  enumOf,
  field,
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
import { bind, urlEncoded } from '../../support/one-endpoint';

class Point extends dto({ x: int }) {}
const types: readonly [string, AnyType][] = [
  ['bool', bool],
  ['int', int],
  ['long', long],
  ['double', double],
  ['decimal', decimal],
  ['dateTime', dateTime],
  ['timeSpan', timeSpan],
  ['guid', guid],
  ['uri', uri],
  ['version', version],
  ['enumOf', enumOf(['a', 'b'])],
  ['list', list(double)],
  ['a dto', Point],
  ['nullable', nullable(decimal)],
];

it.each<[string, AnyType]>([
  ['int', int],
  ['long', long],
  ['double', double],
  ['decimal', decimal],
])('%s looks at the length of a text of a megabyte first', async (_name, type) => {
  class One extends dto({ v: field(type) }) {}
  // The patterns of numbers are the only ones that look for digits and signs alone.
  const looked: number[] = [];
  const exec = RegExp.prototype.exec;
  const spy = jest.spyOn(RegExp.prototype, 'exec').mockImplementation(function look(this: RegExp, text: string) {
    if (this.source.startsWith('^[+-]')) looked.push(text.length);
    return exec.call(this, text);
  });
  try {
    for (const text of [`${'1'.repeat(1_000_000)}`, `${' '.repeat(1_000_000)}1`, `0.${'0'.repeat(1_000_000)}1`]) {
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
const texts = ['1', 'a', '.', ' ', '-', ':', '0.', '1.', '1,', '[', '{', '{}', 'P1D', 'T1', '1e', '00:00.', ' 1'].map(
  part => `${part.repeat(LENGTH / part.length)}x`,
);

it.each(types)('%s refuses long nonsense as quickly as short', async (_name, type) => {
  class One extends dto({ v: field(type) }) {}
  const ms = await processorTime(async () => {
    for (const text of texts) {
      expect((await bind(One, { form: [['v', text]] }, urlEncoded)).status).toBe(400);
      expect((await bind(One, { json: { v: text } })).status).toBe(400);
    }
  });
  // A reader that looks again and again takes minutes.
  expect(ms).toBeLessThan(5_000);
});
