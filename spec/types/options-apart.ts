import type { Request } from 'express';
import { dto, field, fromHeader, int, queryParam, queryValue } from '../../lib';
import type { Infer, PropertyOptions, ValueOptions } from '../../lib';
import { holds, type Equal } from './equal';

/**
 * Options that are declared apart from their use, with a type that does not say whether the value is required: then it
 * may be undefined.
 */
const open: ValueOptions = { required: false };
const maybe: { readonly required?: false } = {};
const certain: { readonly required?: true } = {};
const either = { required: Math.random() < 0.5 };

export const values = (req: Request) => ({
  open: queryValue(req, 'page', int, open),
  maybe: queryValue(req, 'page', int, maybe),
  certain: queryValue(req, 'page', int, certain),
  either: queryValue(req, 'page', int, either),
  one: queryValue(req, 'page', int, either.required ? { required: true } : { required: false }),
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- options that may have no property
  some: queryValue(req, 'page', int, either as { readonly required: false } | {}),
});
type Values = ReturnType<typeof values>;
holds<Equal<Values['open'], number | undefined>>();
holds<Equal<Values['maybe'], number | undefined>>();
holds<Equal<Values['certain'], number>>();
holds<Equal<Values['either'], number | undefined>>();
holds<Equal<Values['one'], number | undefined>>();
holds<Equal<Values['some'], number | undefined>>();

const ofOpen: PropertyOptions<number> = { required: false };
const ofBindFrom: Pick<PropertyOptions, 'bindFrom'> = { bindFrom: 'page' };
const ofDefault: Pick<PropertyOptions<number>, 'default'> = {};

export class Page extends dto({
  open: field(int, ofOpen),
  openHeader: fromHeader(int, ofOpen),
  maybe: queryParam(int, maybe),
  certain: queryParam(int, certain),
  either: queryParam(int, either),
  bindFrom: queryParam(int, ofBindFrom),
  // Without a default, the value is required.
  maybeDefault: queryParam(int, ofDefault),
  maybeBoth: queryParam(int, { ...ofDefault, ...maybe }),
  bothGiven: queryParam(int, { default: 1, required: false }),
}) {}
holds<Equal<Infer<typeof Page>['open'], number | undefined>>();
holds<Equal<Infer<typeof Page>['openHeader'], number | undefined>>();
holds<Equal<Infer<typeof Page>['maybe'], number | undefined>>();
holds<Equal<Infer<typeof Page>['certain'], number>>();
holds<Equal<Infer<typeof Page>['either'], number | undefined>>();
holds<Equal<Infer<typeof Page>['bindFrom'], number>>();
holds<Equal<Infer<typeof Page>['maybeDefault'], number>>();
holds<Equal<Infer<typeof Page>['maybeBoth'], number | undefined>>();
holds<Equal<Infer<typeof Page>['bothGiven'], number>>();

export class Decorated {
  @queryParam(int, maybe) loose?: number | undefined;
  // @ts-expect-error -- the value may be missing
  @queryParam(int, ofOpen) open!: number;
}
