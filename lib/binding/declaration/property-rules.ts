import { anything, boolean, checkOptions, headerName, type Rule } from '../../options/check';
import type { PropertyKind, PropertyOptions, Source } from './property';

const sources: readonly Source[] = ['json', 'form', 'route', 'query', 'claim', 'header', 'cookie', 'permission'];

const aName: Rule = { expects: 'a name', accepts: value => typeof value === 'string' && value !== '' };

const rules: Readonly<Record<keyof PropertyOptions, Rule>> = {
  name: aName,
  bindFrom: aName,
  jsonPropertyName: { expects: 'text', accepts: value => typeof value === 'string' },
  dontBind: { expects: 'an array of sources', accepts: Array.isArray },
  required: boolean,
  jsonRequired: boolean,
  default: anything,
  description: { expects: 'text', accepts: value => typeof value === 'string' },
  fallback: boolean,
};

const flat: readonly (keyof PropertyOptions)[] = ['bindFrom', 'required', 'default', 'description'];
const named: readonly (keyof PropertyOptions)[] = [
  'name',
  'required',
  'default',
  'fallback',
  'jsonPropertyName',
  'bindFrom',
  'dontBind',
  'description',
];

const names: Readonly<Record<PropertyKind, readonly (keyof PropertyOptions)[]>> = {
  field: ['bindFrom', 'jsonPropertyName', 'dontBind', 'required', 'jsonRequired', 'default', 'description'],
  formField: flat,
  queryParam: flat,
  routeParam: flat,
  fromClaim: named,
  fromHeader: named,
  fromCookie: named,
  hasPermission: ['name', 'required'],
  fromBody: [],
  fromForm: [],
  fromQuery: [],
  plainText: [],
};

/**
 * Checks the options of a property.
 * @throws TypeError for an option that this kind of property does not have, or an invalid value.
 */
export function checkProperty(kind: PropertyKind, options: PropertyOptions): void {
  checkOptions(kind, options, rulesOf(kind));
  for (const source of options.dontBind ?? []) {
    if (!sources.includes(source))
      throw new TypeError(`${kind}: dontBind has ${JSON.stringify(source)}; there are: ${sources.join(', ')}`);
  }
}

function rulesOf(kind: PropertyKind): Readonly<Record<string, Rule>> {
  const own = Object.fromEntries(names[kind].map(name => [name, rules[name]]));
  return kind === 'fromHeader' ? { ...own, name: headerName } : own;
}
