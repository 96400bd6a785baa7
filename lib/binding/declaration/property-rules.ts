import { anything, boolean, checkOptions, headerName, text, type Rule } from '../../options/check';
import { SOURCES, type Source } from '../../problems/problem';
import { checkDefault } from './default-value';
import type { PropertyKind, PropertyOptions } from './property';

/** The options of `field`. */
export const FIELD_OPTIONS = [
  'bindFrom',
  'jsonPropertyName',
  'dontBind',
  'required',
  'jsonRequired',
  'default',
  'description',
] as const;

/** The options of `jsonField`. */
export const JSON_OPTIONS = ['jsonPropertyName', 'required', 'jsonRequired', 'default', 'description'] as const;

/** The options of a property that binds from a form field, a route parameter or a query parameter only. */
export const SINGLE_OPTIONS = ['bindFrom', 'required', 'jsonRequired', 'default', 'description'] as const;

/** The options of a property that binds from a claim, a header or a cookie. */
export const NAMED_OPTIONS = [
  'name',
  'required',
  'jsonRequired',
  'default',
  'fallback',
  'jsonPropertyName',
  'bindFrom',
  'dontBind',
  'description',
] as const;

const aName: Rule = { expects: 'a name', accepts: value => typeof value === 'string' && value !== '' };

const rules: Readonly<Record<keyof PropertyOptions, Rule>> = {
  name: aName,
  bindFrom: aName,
  jsonPropertyName: text,
  dontBind: { expects: 'an array of sources', accepts: Array.isArray },
  required: boolean,
  jsonRequired: boolean,
  default: anything,
  description: text,
  fallback: boolean,
};

const only = (...names: readonly (keyof PropertyOptions)[]): Readonly<Record<string, Rule>> =>
  Object.fromEntries(names.map(name => [name, rules[name]]));

const single = only(...SINGLE_OPTIONS);
const named = only(...NAMED_OPTIONS);
const none = only();

/** The options that each kind of property has. */
const rulesOf: Readonly<Record<PropertyKind, Readonly<Record<string, Rule>>>> = {
  field: only(...FIELD_OPTIONS),
  jsonField: only(...JSON_OPTIONS),
  formField: single,
  queryParam: single,
  routeParam: single,
  fromClaim: named,
  fromHeader: { ...named, name: headerName },
  fromCookie: named,
  hasPermission: only('required'),
  fromBody: none,
  fromForm: none,
  fromQuery: none,
  plainText: none,
};

/** The sources that give a property of these kinds its name. */
const ownSources: Readonly<Partial<Record<PropertyKind, Source>>> = {
  fromClaim: 'claim',
  fromHeader: 'header',
  fromCookie: 'cookie',
};

/** `fromHeader` has `name`; for other sources, that name is an option of its own. */
const otherNames: ReadonlyMap<string, keyof PropertyOptions> = new Map([
  ['name', 'bindFrom'],
  ['jsonName', 'jsonPropertyName'],
  ['optional', 'required'],
]);

/**
 * Checks the options of a property.
 * @throws TypeError for an option that this kind of property does not have, or an invalid value, also the default of
 * one.
 */
export function checkProperty(kind: PropertyKind, options: PropertyOptions, property: string): void {
  checkOptions(kind, options, rulesOf[kind], otherNames);
  if (kind === 'fromHeader' && options.name === undefined && !headerName.accepts(property))
    throw new TypeError(
      `${kind}: no header can have the name of the property, ${JSON.stringify(property)}; ` +
        'give it one with the option name',
    );
  checkFallback(kind, options);
  checkDefault(options.default);
  for (const source of options.dontBind ?? []) {
    if (!SOURCES.includes(source))
      throw new TypeError(`${kind}: dontBind has ${JSON.stringify(source)}; there are: ${SOURCES.join(', ')}`);
    if (source === ownSources[kind])
      throw new TypeError(
        `${kind}: dontBind has ${JSON.stringify(source)}, so that only what the client sends elsewhere would be ` +
          'read; declare it with field',
      );
  }
}

/** @throws TypeError for an option of the fallback on a property that has none: it would silently have no effect. */
function checkFallback(kind: PropertyKind, { required, fallback, bindFrom }: PropertyOptions): void {
  if (!(kind in ownSources) || required === false) return;
  if (fallback)
    throw new TypeError(
      `${kind}: fallback: true has an effect only with required: false; add that, or remove fallback`,
    );
  if (bindFrom !== undefined)
    throw new TypeError(
      `${kind}: bindFrom ${JSON.stringify(bindFrom)} is read only with required: false, which allows other sources; ` +
        `to name the ${ownSources[kind]}, use name`,
    );
}
