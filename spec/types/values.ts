import type BigNumber from 'bignumber.js';
import { bool, decimal, dto, enumOf, field, file, formField, fromBody, fromClaim, fromCookie } from '../../lib';
import { fromHeader, guid, hasPermission, int, jsonField, list, nullable, optional, plainText } from '../../lib';
import { queryParam, routeParam, string, version } from '../../lib';
import type { Infer, UploadedFile, Version } from '../../lib';
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

class Line extends dto({ sku: string, quantity: int }) {}

/** What each type reads, beside what public-api.ts says. */
export const types = {
  level: enumOf(Level),
  colour: enumOf(Colour),
  shape: enumOf(Shape),
  grid: list(list(int)),
  files: list(file),
  either: optional(nullable(string)),
  sizes: optional(list(enumOf(['S', 'M']))),
};
type Values = { [K in keyof typeof types]: Infer<(typeof types)[K]> };
// An enum and the union of its members are one type under two names.
holds<Mutual<Values['level'], Level>>();
holds<Mutual<Values['colour'], Colour>>();
holds<Equal<Values['shape'], 'round' | 2>>();
holds<Equal<Values['grid'], number[][]>>();
holds<Equal<Values['files'], UploadedFile[]>>();
holds<Equal<Values['either'], string | null | undefined>>();
holds<Equal<Values['sizes'], ('S' | 'M')[] | undefined>>();
holds<Equal<Infer<typeof decimal>, BigNumber>>();
holds<Equal<Infer<typeof version>, Version>>();

/** What becomes of them in a dto: they may be missing where nothing is required and there is no default. */
class Entries extends dto({
  bare: int,
  bareOptional: optional(int),
  options: field(int, { bindFrom: 'x' }),
  required: field(int, { required: true }),
  loose: field(int, { required: false }),
  both: field(int, { required: false, default: 1 }),
  form: formField(list(int)),
  jsonLoose: jsonField(Line, { required: false }),
  jsonInitial: jsonField(int, { default: 1, jsonPropertyName: 'x' }),
  query: queryParam(Line, { required: false }),
  route: routeParam(guid),
  body: fromBody(list(Line)),
  text: plainText(),
  claim: fromClaim(int, { name: 'x', required: false }),
  header: fromHeader(string, { required: false, fallback: false }),
  cookie: fromCookie(bool, { default: false }),
  might: hasPermission('x', { required: false }),
}) {}
/** The declared types, by the names of the properties that have them. */
type Expected = Record<'bare' | 'options' | 'required' | 'both' | 'jsonInitial', number> &
  Record<'bareOptional' | 'loose' | 'claim', number | undefined> &
  Record<'jsonLoose' | 'query', Line | undefined> &
  Record<'route' | 'text', string> &
  Record<'cookie' | 'might', boolean> & { form: number[]; body: Line[]; header: string | undefined };
holds<{ [K in keyof Entries]: Equal<Entries[K], Expected[K]> }[keyof Entries]>();
holds<Equal<keyof Entries, keyof Expected>>();

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
