import fc from 'fast-check';
import { stringify } from 'lossless-json';
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
  optional,
  string,
  timeSpan,
  uri,
  version,
  type AnyType,
} from '../../../lib';
import { CodecTable } from '../../../lib/binding/plan/codec-table';
import { writeJson } from '../../../lib/binding/responses/json-writer';
import { written } from '../../../lib/binding/types/write-value';
import { Rich, richDtos } from './rich-dto';
import { valueOf } from './spelling';

/** What is written. Of two values that cannot be written, either may be reported. */
function outcome(write: () => string | undefined): string | undefined {
  try {
    return write();
  } catch (error) {
    return `thrown: ${(error as Error).name}`;
  }
}

const scalars: readonly AnyType[] = [
  string,
  bool,
  int,
  long,
  double,
  decimal,
  dateTime,
  timeSpan,
  guid,
  uri,
  version,
  enumOf(['a', 'b']),
];
const types = fc
  .constantFrom(...scalars)
  .chain(type => fc.constantFrom<AnyType>(type, optional(type), nullable(type), list(type), list(list(type))));
/** Names of JSON fields, those of arrays and prototypes included. */
const names = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('1', '0', '__proto__', 'toString', '"', '\u2028'),
);
const shapes = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd', '1', '2', '-1', 'constructor'),
  fc.tuple(types, fc.option(names)),
  { minKeys: 1 },
);
/** Any value that a handler may pass: of the declared type, of another, or of none. */
const values = fc.oneof(
  { depthSize: 'small' },
  fc.anything({
    withBigInt: true,
    withDate: true,
    withBoxedValues: true,
    withSparseArray: true,
    withNullPrototype: true,
  }),
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.date({ noInvalidDate: false }),
  fc.constantFrom(-0, Symbol('s'), () => 1, new URL('https://example.org'), { toJSON: () => 'x' }),
  fc.constantFrom('-9007199254740993', '1e-7', ' 1.50 ', 2 ** 60, 1e300, { toJSON: () => '1.50' }),
);

it('the text that is written at once is that of the converted value, whatever a handler passes', () => {
  fc.assert(
    fc.property(shapes, fc.func(values), fc.boolean(), (shape, valueFor, isList) => {
      const used = new Set<string>();
      const View = dto(
        Object.fromEntries(
          Object.entries(shape).flatMap(([property, [type, name]]) => {
            const jsonName = name ?? property;
            if (used.has(jsonName)) return [];
            used.add(jsonName);
            return [[property, field(type, { jsonPropertyName: jsonName })]];
          }),
        ),
      );
      const codec = new CodecTable({}).complete(isList ? list(View) : View);
      const one = Object.fromEntries(Object.keys(shape).map(property => [property, valueFor(property)]));
      const value = isList ? [one, null, undefined, one] : one;
      expect(outcome(() => writeJson(codec, value))).toBe(outcome(() => stringify(written(codec, value))));
    }),
    { numRuns: 2_000 },
  );
});

it('the text of a dto of all types is that of the converted value', () => {
  const codec = new CodecTable({ propertyNamingPolicy: 'snake_case' }).complete(Rich);
  fc.assert(
    fc.property(richDtos(), dto => {
      const value = valueOf(dto);
      expect(writeJson(codec, value)).toBe(stringify(written(codec, value)));
    }),
    { numRuns: 100 },
  );
});
