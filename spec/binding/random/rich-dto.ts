import BigNumber from 'bignumber.js';
import fc, { type Arbitrary } from 'fast-check';
import { bool, dateTime, decimal, double, dto, enumOf, guid, int, list, long, nullable, oneOf } from '../../../lib';
import { optional, record, string, timeSpan, uri, Version, version } from '../../../lib';
import { Filled, Spelled, type Spelling } from './spelling';

enum Level {
  Low = 1,
  High = 10,
}
const COLOURS = ['red', 'dark blue', 'g,r'] as const;

export class Point extends dto({ x: double, label: optional(string), depth: optional(int) }) {}
export class Line extends dto({
  sku: string,
  quantity: int,
  price: optional(decimal),
  tags: list(string),
  marks: optional(list(dateTime)),
  at: optional(Point),
}) {}
class Card extends dto({ number: string, limit: optional(decimal) }) {}
class Cash extends dto({}) {}
const payment = oneOf('payKind', { card: Card, cash: Cash });
export class Rich extends dto({
  text: string,
  note: optional(string),
  flag: bool,
  small: int,
  big: long,
  real: double,
  exact: decimal,
  moment: dateTime,
  span: timeSpan,
  id: guid,
  link: uri,
  release: version,
  level: enumOf(Level),
  colour: enumOf(COLOURS),
  maybe: optional(int),
  since: optional(dateTime),
  nothing: nullable(string),
  either: optional(nullable(long)),
  texts: list(string),
  spare: optional(list(string)),
  sizes: list(int),
  flags: optional(list(bool)),
  amounts: list(decimal),
  links: list(uri),
  ids: optional(list(guid)),
  colours: list(enumOf(COLOURS)),
  spans: list(timeSpan),
  line: Line,
  extra: optional(Line),
  lines: list(Line),
  points: optional(list(Point)),
  payment,
  payments: list(payment),
  refund: optional(payment),
  stock: record(int),
  shelves: optional(record(Line)),
}) {}

const spelled = <T>(
  values: Arbitrary<T>,
  text: (value: T) => string,
  json?: (value: T) => string,
): Arbitrary<Spelled> => values.map(value => new Spelled(value, text(value), json?.(value)));
/** Several spellings of one value, each as text and in JSON. */
const anyOf = <T>(values: Arbitrary<T>, ...spellings: readonly ((value: T) => Spelled)[]): Arbitrary<Spelled> =>
  fc.tuple(values, fc.constantFrom(...spellings)).map(([value, spell]) => spell(value));

/** Characters that mean something to some format; the others come by themselves. */
const TELLING = [
  ...',[]{}"\'&=%+; \t\r\n\0\\/.:\ufeff\u2028-_',
  ...['%5B', '%00', '\\u0000', '[]', '{}', '__proto__', 'null', '1'],
];
const characters = fc.oneof(
  fc.constantFrom(...TELLING),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
);
const wellFormed = fc.array(characters, { maxLength: 6 }).map(parts => parts.join(''));
/** Text that UTF-8 cannot hold, but JSON escapes can. */
const halfSurrogates = fc
  .tuple(wellFormed, fc.integer({ min: 0xd800, max: 0xdfff }))
  .map(([text, unit]) => text + String.fromCharCode(unit));

const bools = anyOf(
  fc.boolean(),
  ...[String, (value: boolean) => String(value).toUpperCase(), (value: boolean) => ` ${value} `].map(
    text => (value: boolean) => new Spelled(value, text(value), String(value)),
  ),
);
const ints = anyOf(
  fc.oneof(fc.integer(), fc.constantFrom(0, 2_147_483_647, -2_147_483_648)),
  value => new Spelled(value, String(value), String(value)),
  value => new Spelled(value, ` ${value < 0 ? '' : '+'}${value}`, `${value}.0`),
);
const longs = anyOf(
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  value => new Spelled(value, String(value), String(value)),
  value => new Spelled(value, String(value)),
);
// Adding zero makes a zero of minus zero, which neither JSON.stringify nor String has a spelling for.
const doubles = spelled(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0),
  String,
  String,
);
const decimals = anyOf(
  fc
    .tuple(fc.constantFrom('', '-'), fc.bigInt(0n, 10n ** 30n), fc.integer({ min: -40, max: 20 }))
    .map(([sign, digits, exponent]) => new BigNumber(`${digits === 0n ? '' : sign}${digits}e${exponent}`)),
  value => new Spelled(value, value.toFixed(), value.toFixed()),
  value => new Spelled(value, value.toFixed()),
  value => new Spelled(value, value.toExponential(), value.toExponential()),
);
const dates = anyOf(
  fc.date({ min: new Date('0000-01-02T00:00:00Z'), max: new Date('9999-12-30T23:59:59.999Z'), noInvalidDate: true }),
  ...[
    (value: Date) => value.toISOString(),
    (value: Date) => value.toISOString().replace('T', ' ').replace('Z', '4567'),
    (value: Date) => new Date(value.getTime() + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30'),
  ].map(text => (value: Date) => new Spelled(value, text(value))),
);
const two = (n: number): string => String(n).padStart(2, '0');
const spans = anyOf(
  fc.record({
    minus: fc.boolean(),
    days: fc.integer({ min: 0, max: 9_999_999 }),
    hours: fc.nat(23),
    minutes: fc.nat(59),
    seconds: fc.nat(59),
    ms: fc.nat(999),
  }),
  ...[
    ({ days, hours, minutes, seconds, ms }: Clock) =>
      `${days}.${two(hours)}:${two(minutes)}:${two(seconds)}.${String(ms).padStart(3, '0')}`,
    ({ days, hours, minutes, seconds, ms }: Clock) =>
      `P${days}DT${hours}H${minutes}M${seconds}.${String(ms).padStart(3, '0')}S`,
  ].map(text => (clock: Clock) => new Spelled(millisecondsOf(clock), `${clock.minus ? '-' : ''}${text(clock)}`)),
);
interface Clock {
  readonly minus: boolean;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly ms: number;
}
const millisecondsOf = ({ minus, days, hours, minutes, seconds, ms }: Clock): number =>
  ((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000 + ms) * (minus ? -1 : 1);
const guids = anyOf(
  fc.uuid(),
  ...[
    (id: string) => id,
    (id: string) => id.toUpperCase(),
    (id: string) => `{${id}}`,
    (id: string) => `(${id})`,
    (id: string) => id.replaceAll('-', ''),
  ].map(text => (id: string) => new Spelled(id, text(id))),
);
const uris = spelled(
  fc
    .oneof(
      fc.webUrl({ withFragments: true, withQueryParameters: true, size: 'xsmall' }),
      fc.constantFrom('http://a,b@example.org/', 'https://[::1]:8443/?a=1,2&b[]=3#é'),
      fc.string({ unit: 'binary' }).map(rest => `http://a/${rest}`),
    )
    .map(text => new URL(text)),
  value => value.href,
);
const versions = spelled(
  fc
    .array(fc.nat(), { minLength: 2, maxLength: 4 })
    .map(([major = 0, minor = 0, build, revision]) => new Version(major, minor, build, revision)),
  String,
);
const levels = anyOf(
  fc.constantFrom(...(['Low', 'High'] as const)),
  name => new Spelled(Level[name], name),
  name => new Spelled(Level[name], name.toLowerCase()),
  name => new Spelled(Level[name], String(Level[name]), String(Level[name])),
);
const colours = anyOf(
  fc.constantFrom(...COLOURS),
  name => new Spelled(name, name),
  name => new Spelled(name, name.toUpperCase()),
);

type Extras = Arbitrary<readonly (readonly [name: string, spelling: Spelling])[]>;
type Members<T> = { readonly [K in keyof T]: Arbitrary<Spelling> };
const several = (items: Arbitrary<Spelling>): Arbitrary<Spelling> => fc.array(items, { maxLength: 3 });
const missing: Arbitrary<Spelling> = fc.constant(undefined);
const orMissing = (present: Arbitrary<Spelling>, ...spelledAs: readonly Spelled[]): Arbitrary<Spelling> =>
  fc.oneof({ arbitrary: present, weight: 3 }, missing, ...spelledAs.map(one => fc.constant(one)));
/** Empty text and JSON `null` say that there is no value. */
const NOTHING = new Spelled(undefined, '', 'null');
/** JSON alone can say this. */
const NULL = new Spelled(null, undefined, 'null');
const NO_TEXT = new Spelled(undefined, undefined, 'null');

/** A record has no prototype. */
function Bare(): object {
  return Object.create(null) as object;
}

/** Rich dtos as they can be spelled in JSON, or with `inNames` in a form or a query too. @param extras what is sent along on every level. */
export function richDtos({
  inNames = false,
  extras = fc.constant([]),
}: { readonly inNames?: boolean; readonly extras?: Extras } = {}): Arbitrary<Filled> {
  const filled = <T extends object>(Dto: new () => T, members: Members<T>): Arbitrary<Filled> =>
    fc
      .tuple(fc.record(members as Record<string, Arbitrary<Spelling>>), extras)
      .map(([one, others]) => new Filled(Dto, one, others));
  const texts = (inNames ? wellFormed : fc.oneof({ arbitrary: wellFormed, weight: 5 }, halfSurrogates)).map(
    value => new Spelled(value, value),
  );
  const orNull = (present: Arbitrary<Spelling>): Arbitrary<Spelling> =>
    inNames ? present : fc.oneof(present, fc.constant(NULL));
  const orMissingText = inNames ? orMissing(texts) : orMissing(texts, NO_TEXT);
  const points = filled(Point, { x: doubles, label: orMissingText, depth: orMissing(ints, NOTHING) });
  const lines = filled(Line, {
    sku: texts,
    quantity: ints,
    price: orMissing(decimals, NOTHING),
    tags: several(texts),
    marks: orMissing(several(dates)),
    at: orMissing(points),
  });
  const tagged = (kind: string): Arbitrary<Spelling> => fc.constant(new Spelled(kind, kind));
  const payments = fc.oneof(
    filled<object>(Card, { payKind: tagged('card'), number: texts, limit: orMissing(decimals, NOTHING) } as object),
    filled<object>(Cash, { payKind: tagged('cash') } as object),
  );
  /** Names of the client's, of which one in another case is another one. */
  const recordOf = (values: Arbitrary<Spelling>): Arbitrary<Filled> =>
    fc
      .dictionary(fc.stringMatching(/^[A-Z\d]{1,3}$/), values, { maxKeys: 3 })
      .map(all => new Filled(Bare as never, all));
  return filled(Rich, {
    text: texts,
    note: orMissingText,
    flag: bools,
    small: ints,
    big: longs,
    real: doubles,
    exact: decimals,
    moment: dates,
    span: spans,
    id: guids,
    link: uris,
    release: versions,
    level: levels,
    colour: colours,
    maybe: orMissing(ints, NOTHING),
    since: orMissing(dates, NOTHING),
    nothing: orNull(texts),
    either: orMissing(orNull(longs)),
    texts: several(texts),
    spare: orMissing(several(texts)),
    sizes: several(ints),
    flags: orMissing(several(bools)),
    amounts: several(decimals),
    links: several(uris),
    ids: orMissing(several(guids)),
    colours: several(colours),
    spans: several(spans),
    line: lines,
    extra: orMissing(lines),
    lines: several(lines),
    points: orMissing(several(points)),
    payment: payments,
    payments: several(payments),
    refund: orMissing(payments),
    stock: recordOf(ints),
    shelves: orMissing(recordOf(lines)),
  });
}
