import type BigNumber from 'bignumber.js';
import {
  bool,
  dateTime,
  decimal,
  double,
  dto,
  enumOf,
  field,
  file,
  formField,
  fromBody,
  fromClaim,
  fromCookie,
  fromHeader,
  guid,
  hasPermission,
  int,
  jsonField,
  list,
  long,
  nullable,
  optional,
  plainText,
  queryParam,
  routeParam,
  string,
  timeSpan,
  uri,
  version,
  type Infer,
  type ParseResult,
  type UploadedFile,
  type Version,
} from '../../lib';
import { holds, type Equal, type Mutual } from './equal';

enum Level {
  Low,
  High = 5,
}
enum Colour {
  Red = 'R',
  Blue = 'B',
}
const Shape = { Round: 'round', Square: 2 } as const;

class Money {
  private constructor(readonly cents: number) {}
  static tryParse(text: string | undefined): ParseResult<Money> {
    return text === undefined ? { success: false } : { success: true, value: new Money(Number(text)) };
  }
}
class Line extends dto({ sku: string, quantity: int }) {}

/** What each type reads. */
holds<Equal<Infer<typeof bool>, boolean>>();
holds<Equal<Infer<typeof int>, number>>();
holds<Equal<Infer<typeof long>, bigint>>();
holds<Equal<Infer<typeof double>, number>>();
holds<Equal<Infer<typeof decimal>, BigNumber>>();
holds<Equal<Infer<typeof string>, string>>();
holds<Equal<Infer<typeof dateTime>, Date>>();
holds<Equal<Infer<typeof timeSpan>, number>>();
holds<Equal<Infer<typeof guid>, string>>();
holds<Equal<Infer<typeof uri>, URL>>();
holds<Equal<Infer<typeof version>, Version>>();
holds<Equal<Infer<typeof file>, UploadedFile>>();
holds<Equal<Infer<typeof Line>, Line>>();
holds<Equal<Infer<typeof Money>, Money>>();

export const types = {
  level: enumOf(Level),
  colour: enumOf(Colour),
  shape: enumOf(Shape),
  size: enumOf(['S', 'M', 'L']),
  lines: list(Line),
  grid: list(list(int)),
  files: list(file),
  prices: list(Money),
  maybe: optional(int),
  none: nullable(int),
  either: optional(nullable(string)),
  sizes: optional(list(enumOf(['S', 'M']))),
};
type Values = { [K in keyof typeof types]: Infer<(typeof types)[K]> };
// An enum and the union of its members are one type under two names.
holds<Mutual<Values['level'], Level>>();
holds<Mutual<Values['colour'], Colour>>();
holds<Equal<Values['shape'], 'round' | 2>>();
holds<Equal<Values['size'], 'S' | 'M' | 'L'>>();
holds<Equal<Values['lines'], Line[]>>();
holds<Equal<Values['grid'], number[][]>>();
holds<Equal<Values['files'], UploadedFile[]>>();
holds<Equal<Values['prices'], Money[]>>();
holds<Equal<Values['maybe'], number | undefined>>();
holds<Equal<Values['none'], number | null>>();
holds<Equal<Values['either'], string | null | undefined>>();
holds<Equal<Values['sizes'], ('S' | 'M')[] | undefined>>();

/** What becomes of them in a dto: they may be missing where nothing is required and there is no default. */
class Entries extends dto({
  bare: int,
  bareClass: Line,
  bareParsable: Money,
  bareOptional: optional(int),
  plain: field(int),
  options: field(int, { bindFrom: 'x' }),
  required: field(int, { required: true }),
  loose: field(int, { required: false }),
  initial: field(int, { default: 1 }),
  both: field(int, { required: false, default: 1 }),
  wrapped: field(optional(int)),
  form: formField(list(int)),
  json: jsonField(int),
  jsonLoose: jsonField(Line, { required: false }),
  jsonInitial: jsonField(int, { default: 1, jsonPropertyName: 'x' }),
  query: queryParam(Line, { required: false }),
  route: routeParam(guid),
  body: fromBody(list(Line)),
  text: plainText(),
  claim: fromClaim(int, { name: 'x', required: false }),
  claimed: fromClaim(int, { name: 'x' }),
  header: fromHeader(string, { required: false, fallback: false }),
  cookie: fromCookie(bool, { default: false }),
  may: hasPermission('x'),
  might: hasPermission('x', { required: false }),
}) {}
holds<Equal<Entries['bare'], number>>();
holds<Equal<Entries['bareClass'], Line>>();
holds<Equal<Entries['bareParsable'], Money>>();
holds<Equal<Entries['bareOptional'], number | undefined>>();
holds<Equal<Entries['plain'], number>>();
holds<Equal<Entries['options'], number>>();
holds<Equal<Entries['required'], number>>();
holds<Equal<Entries['loose'], number | undefined>>();
holds<Equal<Entries['initial'], number>>();
holds<Equal<Entries['both'], number>>();
holds<Equal<Entries['wrapped'], number | undefined>>();
holds<Equal<Entries['json'], number>>();
holds<Equal<Entries['jsonLoose'], Line | undefined>>();
holds<Equal<Entries['jsonInitial'], number>>();
holds<Equal<Entries['form'], number[]>>();
holds<Equal<Entries['query'], Line | undefined>>();
holds<Equal<Entries['route'], string>>();
holds<Equal<Entries['body'], Line[]>>();
holds<Equal<Entries['text'], string>>();
holds<Equal<Entries['claim'], number | undefined>>();
holds<Equal<Entries['claimed'], number>>();
holds<Equal<Entries['header'], string | undefined>>();
holds<Equal<Entries['cookie'], boolean>>();
holds<Equal<Entries['may'], boolean>>();
holds<Equal<Entries['might'], boolean>>();

/** Mistakes that the compiler finds. */
export const mistakes = (): unknown[] => [
  // @ts-expect-error -- a type is no text
  dto({ when: 'string' }),
  // @ts-expect-error -- there is no source of this name
  field(int, { dontBind: ['body'] }),
  // @ts-expect-error -- the name of an option with a mistake in it
  queryParam(int, { requierd: false }),
  // @ts-expect-error -- a single source has no others to close
  queryParam(int, { dontBind: ['json'] }),
  // @ts-expect-error -- a claim is named by `name`, which a query parameter does not have
  queryParam(int, { name: 'x' }),
  // @ts-expect-error -- JSON has no other name in a form, route or query
  jsonField(int, { bindFrom: 'x' }),
  // @ts-expect-error -- a single source has no others to close
  jsonField(int, { dontBind: ['query'] }),
  // @ts-expect-error -- a default has the type of the value
  jsonField(int, { default: 'x' }),
  // @ts-expect-error -- a permission has no type: it is true or false
  hasPermission('x', { default: true }),
  // @ts-expect-error -- a list of what is no type
  list('string'),
];
