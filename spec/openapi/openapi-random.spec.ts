import Ajv, { type ErrorObject } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import express from 'express';
import fc, { type Arbitrary } from 'fast-check';
import {
  bind,
  bindRequest,
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
  openapi,
  optional,
  string,
  timeSpan,
  uri,
  version,
  type AnyType,
  type BindingOptions,
  type Problem,
  type ProblemError,
} from '../../lib';

type Schema = Readonly<Record<string, unknown>>;
type Source = 'json' | 'query' | 'form';

/** A value of a request, in the words of the document. */
interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
  /** True if it is sent as JSON text. */
  readonly isJson: boolean;
}

/** What the document says of one endpoint, and how the endpoint binds. */
interface Described {
  readonly Dto: AnyType;
  readonly options: BindingOptions;
  readonly schemas: Record<string, Schema>;
  /** The object that the values of each source make. */
  readonly body: Schema;
  readonly bodyRequired: boolean;
  readonly query: readonly Parameter[];
  readonly form: readonly Parameter[];
}

enum Level {
  Low = 1,
  High = 10,
}
const LIMITS = { items: 4 };

function endpointOf(Dto: AnyType, given: BindingOptions = {}): Described {
  const options: BindingOptions = { ...given, limits: LIMITS, allowFormData: { urlEncoded: true } };
  const app = express().get('/', bindRequest(Dto, options)).post('/', bindRequest(Dto, options));
  const { paths, components } = openapi(app, { info: { title: 'Random', version: '1' } }) as unknown as {
    paths: Record<string, Record<'get' | 'post', Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  const { get, post } = paths['/'] as Record<'get' | 'post', Operation>;
  const content = post.requestBody?.content ?? {};
  const form = content['application/x-www-form-urlencoded'];
  const { properties = {}, required = [] } = (form?.schema ?? {}) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  return {
    Dto,
    options,
    schemas: components.schemas,
    body: content['application/json']?.schema ?? {},
    bodyRequired: post.requestBody?.required ?? false,
    query: (get.parameters ?? []).map(({ name, required: isRequired, schema, style }) => ({
      name,
      required: isRequired,
      schema: (schema['contentSchema'] as Schema | undefined) ?? schema,
      // What has a style, which `openapi-generators.spec.ts` sends, can be JSON as well.
      isJson: 'contentSchema' in schema || style === 'deepObject',
    })),
    form: Object.entries(properties).map(([name, schema]) => ({
      name,
      required: required.includes(name),
      schema,
      isJson: form?.encoding?.[name]?.contentType === 'application/json',
    })),
  };
}

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly schema: Schema;
    readonly style?: string;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Record<
      string,
      { readonly schema: Schema; readonly encoding?: Record<string, { readonly contentType: string }> }
    >;
  };
}

const ajv = addFormats(new Ajv({ strict: false, allErrors: true, verbose: true })).addFormat('decimal', true);

/** Compiles a schema of a document, whose references lead into the document. */
const validatorOf = (schema: Schema, schemas: Record<string, Schema>): ((value: unknown) => ErrorObject[]) => {
  const validate = ajv.compile({ ...schema, components: { schemas } });
  return value => (validate(value) ? [] : [...(validate.errors ?? [])]);
};

/** The object that the parameters of a query or a form make. */
const objectOf = (parameters: readonly Parameter[]): Schema => ({
  type: 'object',
  properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
  required: parameters.filter(one => one.required).map(({ name }) => name),
});

/** Binds, and returns the failures. */
async function failuresOf(
  { Dto, options }: Described,
  sent: Parameters<typeof bind>[1],
): Promise<readonly ProblemError[]> {
  try {
    await bind(Dto, sent, options);
    return [];
  } catch (error) {
    const { errors, status } = error as Problem & { errors?: readonly ProblemError[] };
    if (typeof status !== 'number') throw error;
    return errors ?? [{ name: '', in: 'body', detail: (error as Error).message }];
  }
}

/** Random types, nested `depth` levels deep. */
function types(depth: number): Arbitrary<AnyType> {
  const scalars = fc.constantFrom<AnyType[]>(
    ...[string, bool, int, long, double, decimal, dateTime, timeSpan, guid, uri, version],
    ...[enumOf(['red', 'dark blue']), enumOf(Level), enumOf({ Low: 1, High: 'high' })],
  );
  if (depth === 0) return scalars;
  const inner = types(depth - 1);
  return fc.oneof(
    { arbitrary: scalars, weight: 3 },
    { arbitrary: inner.map(list), weight: 2 },
    { arbitrary: inner.map(nullable), weight: 1 },
    { arbitrary: dtos(depth - 1), weight: 1 },
  );
}

const NAMES = ['id', 'unitPrice', 'customerID', 'URLPath', 'a_b', 'line2'] as const;

function dtos(depth: number): Arbitrary<AnyType> {
  const properties = fc.tuple(types(depth), fc.constantFrom('bare', 'optional', 'renamed', 'default', 'loose'));
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), properties), { minLength: 1, selector: ([name]) => name })
    .map(members =>
      dto(Object.fromEntries(members.map(([name, [type, how]]) => [name, declared(type, how, name)] as const))),
    );
}

function declared(type: AnyType, how: string, name: string): AnyType | ReturnType<typeof field> {
  switch (how) {
    case 'optional':
      return optional(type);
    case 'renamed':
      return field(type, { bindFrom: `from-${name}`, jsonPropertyName: `${name}.json`, description: 'Renamed.' });
    case 'default':
      return field(type, { default: () => null as never });
    case 'loose':
      return field(type, { required: false });
    default:
      return type;
  }
}

const endpoints = fc
  .tuple(
    dtos(2),
    fc.constantFrom('camelCase' as const, 'snake_case' as const, 'kebab-case' as const, 'PascalCase' as const),
  )
  .map(([Dto, propertyNamingPolicy]) => endpointOf(Dto, { propertyNamingPolicy }));

/** Values that a schema of the document allows. */
function valuesOf(schema: Schema, schemas: Record<string, Schema>): Arbitrary<unknown> {
  const {
    $ref,
    anyOf,
    enum: values,
    type,
    format,
    pattern,
    items,
    properties,
    required = [],
  } = schema as {
    readonly $ref?: string;
    readonly anyOf?: readonly Schema[];
    readonly enum?: readonly unknown[];
    readonly type?: string | readonly string[];
    readonly format?: string;
    readonly pattern?: string;
    readonly items?: Schema;
    readonly properties?: Record<string, Schema>;
    readonly required?: readonly string[];
  };
  if ($ref !== undefined) return valuesOf(schemas[$ref.slice('#/components/schemas/'.length)] ?? {}, schemas);
  if (anyOf) return fc.oneof(...anyOf.map(one => valuesOf(one, schemas)));
  if (values) return fc.constantFrom(...values);
  const { minimum = -1e9, maximum = 1e9, maxItems = LIMITS.items } = schema as Record<string, number | undefined>;
  const ofType = (one: string | undefined): Arbitrary<unknown> => {
    switch (one) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.constantFrom(minimum, maximum, 0));
      case 'number':
        // Exponents that a decimal can have, too.
        return fc.oneof(
          fc
            .double({ noNaN: true, noDefaultInfinity: true, min: -1e20, max: 1e20 })
            .map(one => (Math.abs(one) < 1e-100 ? 0 : one)),
          fc.integer(),
        );
      case 'string':
        return textsOf(format, pattern);
      case 'array':
        return fc.array(valuesOf(items ?? {}, schemas), { maxLength: maxItems });
      case 'object':
        return fc.record(
          Object.fromEntries(Object.entries(properties ?? {}).map(([name, one]) => [name, valuesOf(one, schemas)])),
          { requiredKeys: required as string[] },
        );
      default:
        throw new Error(`A schema without a type: ${JSON.stringify(schema)}`);
    }
  };
  return fc.oneof(...[type].flat().map(one => ofType(one as string | undefined)));
}

const offsets = fc.constantFrom('Z', 'z', '+05:30', '-11:00');
function textsOf(format: string | undefined, pattern: string | undefined): Arbitrary<string> {
  if (format === 'uuid') return fc.uuid().map(id => (id.startsWith('0') ? id.toUpperCase() : id));
  if (format === 'date-time')
    return fc
      .tuple(fc.date({ min: new Date('0001-01-01'), max: new Date('9998-12-31'), noInvalidDate: true }), offsets)
      .map(([date, offset]) => date.toISOString().replace('Z', offset));
  if (format === 'uri') return fc.webUrl({ withFragments: true, withQueryParameters: true, size: 'xsmall' });
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('', ' ', 'null', 'a,b', '[1]', '[x', '{"a":1}', '5'));
}

/** What a client may send by mistake. */
const JUNK: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -0.5,
    5,
    5.5,
    2_147_483_648,
    -1e300,
    '',
    ' ',
    ' 5 ',
    '5',
    '+5',
    '-0',
    '05',
    '1e5',
    '.5',
    '5.',
  ],
  ...['1'.repeat(200), 'true', 'TRUE', 'yes', 'null', 'x', 'Low', 'low', '10', 'RED', 'Dark Blue', 'high', 'HIGH'],
  ...['2026-01-01', '2026-01-01T10:00', '2026-01-01T10:00:00', '2026-01-01 10:00:00Z', '2026-02-30T10:00:00Z'],
  ...['2026-13-01T00:00:00Z', '10:30', '1.10:30:00', '24:00:00', 'PT', 'P1D', 'P1Y', 'pt1h', '-PT1.5S', 'PT5H3S'],
  ...['{3f2504e0-4f89-11d3-9a0c-0305e82c3301}', '3f2504e04f8911d39a0c0305e82c3301', '3f2504e0-4f89-11d3-9a0c'],
  ...['http:', 'http://a b', 'https://é.example/', 'HTTPS://EXAMPLE.ORG', 'ftp://a/', 'mailto:a@b', '//a/b'],
  ...['1', '1.2', '1.2.3.4', '1.2.3.4.5', '2147483647.0', '2147483648.0', '1.-2', '1,2', '[1,2]', '[', '{}', '{'],
  ...[[], [null], [1, 2], ['a'], [[1]], [1, 2, 3, 4, 5], {}, { a: 1 }],
];

/** A value and one place in it that is changed: another value, nothing, a name more, or a name in another case. */
function mutated(value: unknown): Arbitrary<unknown> {
  const replaced = fc.constantFrom(...JUNK);
  if (typeof value !== 'object' || value === null) return replaced;
  const entries = Object.entries(value);
  const below = entries.map(([key, one]) =>
    mutated(one).map(other =>
      Array.isArray(value) ? value.with(Number(key), other) : ({ ...value, [key]: other } as unknown),
    ),
  );
  if (Array.isArray(value))
    return fc.oneof(
      replaced,
      ...below,
      replaced.map(one => [...(value as unknown[]), one]),
    );
  const without = entries.map(([key]) => fc.constant(Object.fromEntries(entries.filter(([name]) => name !== key))));
  const renamed = entries.map(([key, one]) =>
    fc.constant({ ...Object.fromEntries(entries.filter(([name]) => name !== key)), [key.toUpperCase()]: one }),
  );
  return fc.oneof(
    { arbitrary: replaced, weight: 1 },
    { arbitrary: fc.constant({ ...value, undeclared: 1 }), weight: 1 },
    ...[
      ...below.map(arbitrary => ({ arbitrary, weight: 4 })),
      ...[...without, ...renamed].map(arbitrary => ({ arbitrary, weight: 1 })),
    ],
  );
}

/** One refusal, by the document or by binding, and the value that is refused. */
interface Refused {
  readonly schema: Schema;
  readonly value: unknown;
  readonly keyword: string;
  readonly source: Source;
  /** The name that an object lacks. */
  readonly missing?: string;
  /** True for an item of a list. */
  readonly isItem: boolean;
}

/** Tells whether a difference between document and binding is meant. */
type Difference = (refused: Refused) => boolean;

const isText = (value: unknown): value is string => typeof value === 'string';
/** Explains text that a schema refuses, if it matches. */
const text =
  (keyword: string, value: unknown, pattern: RegExp) =>
  ({ schema, value: sent }: Refused): boolean =>
    schema[keyword] === value && isText(sent) && pattern.test(sent);
const inText =
  (explains: Difference) =>
  (refused: Refused): boolean =>
    refused.source !== 'json' && explains(refused);
const NUMBER = /^\s*[+-]?(\d+[.]?\d*|[.]\d+)(e[+-]?\d+)?\s*$/i;
const lower = (value: unknown): string => String(value).trim().toLowerCase();

/** What binding accepts although the document does not allow it. Everything else must agree. */
const LENIENT: readonly Difference[] = [
  // Null instead of an optional value: many clients write null for what they do not have; the document names the
  // form without ambiguity.
  ({ value, keyword }) => value === null && ['type', 'enum'].includes(keyword),
  // The name of an enum value, in any case, or the text of a number: clients of other languages send names; the
  // document lists what is written in responses.
  ({ schema, value }) =>
    [schema['enum'], schema['x-enum-varnames']].flat().some(one => one !== undefined && lower(one) === lower(value)),
  // A date without an offset, a time or seconds: forms of browsers send them (datetime-local); they mean UTC, which
  // no format of JSON Schema says.
  text('format', 'date-time', /^\s*\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.]\d+)?)?(Z|[+-]\d\d:\d\d)?)?\s*$/i),
  // A GUID in braces or parentheses, or without dashes: .NET and Windows write them; the format uuid is RFC 9562.
  text('format', 'uuid', /^\s*[({]?[\da-f-]{32,36}[)}]?\s*$/i),
  // A URL that RFC 3986 would have percent-encoded: a URL is read as browsers read it (WHATWG); the format uri is
  // RFC 3986.
  ({ schema, value }) => schema['format'] === 'uri' && isText(value) && /^\s*https?:/i.test(value),
  // A number as text with an exponent, a sign, leading zeros or spaces: every language writes numbers a little
  // differently; the pattern is one that all can write.
  ({ schema, value }) => ['decimal', 'int64'].includes(String(schema['format'])) && isText(value) && NUMBER.test(value),
  // A duration in small letters, with spaces, or of more digits: the pattern is for generated clients, and keeps to
  // durations that are safe in any combination.
  ({ schema, value }) =>
    String(schema['examples']) === '01:30:00' && isText(value) && /^\s*-?(p[\dt]|\d+[.:])/i.test(value),
  // A version with spaces, or of ten digits: the largest number, 2147483647, is no pattern that a reader would
  // understand.
  ({ schema, value }) =>
    String(schema['pattern']).includes('){1,3}$') && isText(value) && /^\s*\d{1,10}([.]\d{1,10}){1,3}\s*$/.test(value),
  // A number with a sign, leading zeros or spaces, in a query or a form: people type them; the document describes
  // the JSON number.
  inText(
    ({ schema, value }) =>
      ['integer', 'number'].some(type => [schema['type']].flat().includes(type)) && isText(value) && NUMBER.test(value),
  ),
  // True and false in any case, in a query or a form: Python and .NET write True.
  inText(text('type', 'boolean', /^\s*(true|false)\s*$/i)),
  // Empty text instead of an optional value, in a query or a form: a form sends every field, the empty ones, too.
  inText(({ value }) => value === '' || (Array.isArray(value) && value.join('') === '')),
  // A name in another case, in a query or a form: names of a query are typed by hand; OpenAPI has no names without
  // case.
  inText(
    ({ keyword, missing = '', value }) =>
      keyword === 'required' && Object.keys(value as object).some(name => lower(name) === lower(missing)),
  ),
  // The items of a list in one text, with commas or as JSON, or one item without its list: clients write lists in
  // all of these ways; the document names one of them.
  inText(
    ({ schema, value, isItem }) =>
      (schema['type'] === 'array' && !Array.isArray(value)) || (isItem && isText(value) && /^\s*[[{]|,/.test(value)),
  ),
  // A list of lists, or of objects, whose items are sent one by one: the same list, in another way.
  inText(
    ({ schema, isItem, value }) => isItem && ['array', 'object'].includes(String(schema['type'])) && isText(value),
  ),
  // A text that is sent several times, in a query or a form: repeated values are joined with commas, as in headers
  // (RFC 9110, section 5.3).
  inText(({ schema, value }) => [schema['type']].flat().includes('string') && Array.isArray(value)),
];

/** What binding refuses although the document allows it; `keyword` is the message. */
const LOOSE: readonly Difference[] = [
  // More items of a list in a nested object than the endpoint takes: endpoints with other limits share the schema
  // of the object.
  ({ keyword }) => keyword.startsWith(`There are 5 items; ${LIMITS.items} are allowed.`),
  // A decimal number next to zero: more than 128 decimal places: JSON Schema has limits for large numbers, and none
  // for small ones.
  ({ keyword }) => /e-\d+ is not a decimal/.test(keyword),
  // An integer of more than 64 bits: the format int64 says it; as JSON numbers, the limits would be rounded.
  ({ keyword }) => /is not a whole number of at most|more digits than can be read/.test(keyword),
  // A double of more than 128 characters: no format says how long a number may be.
  ({ keyword }) => /^The value "[+-]?[\d.]{59,}….* is not a number from/.test(keyword),
  // A leap second, or more than nine digits of a second: RFC 3339 has them, and Date does not.
  ({ keyword }) => /:60|[.]\d{10,}/.test(keyword) && keyword.includes('is not a date and time'),
  // A URI without a host: RFC 3986 allows it, and a URL of http needs one.
  ({ keyword }) => /^The value "https?:.* is not a URL/i.test(keyword),
  // An invalid value under a name in another case, in a query or a form: the name is the declared one to binding,
  // and an unknown one to the document.
  inText(({ value, keyword }) => value === undefined && !/required/i.test(keyword)),
  // One text of a list that looks like a JSON array of something else: it is read as the JSON of the whole list,
  // which a client may send as one text.
  inText(({ keyword, value }) => keyword.includes('is not a string') && /^\[?"\s*[[{]/.test(JSON.stringify(value))),
  // One text of a list that has a comma, in a query or a form: a single text is split at commas; a list of one
  // value with a comma is sent as JSON.
  inText(({ value }) => Array.isArray(value) && value.length === 1 && String(value[0]).includes(',')),
];

const explained = (differences: readonly Difference[], refused: Refused): boolean =>
  differences.some(explains => explains(refused));

/** What the document refuses in a value, without the other branch of `nullable`. */
function documentRefuses(errors: readonly ErrorObject[], source: Source): Refused[] {
  return errors
    .filter(({ keyword, schemaPath }) => keyword !== 'anyOf' && !schemaPath.endsWith('/anyOf/1/type'))
    .map(({ keyword, parentSchema = {}, data, params, instancePath }) => ({
      schema: parentSchema as Schema,
      value: data as unknown,
      keyword,
      source,
      missing: (params as { missingProperty?: string }).missingProperty,
      isItem: /\/\d+$/.test(instancePath),
    }));
}

/** What binding refuses: the message, and the value that was sent under the name. */
function bindingRefuses(errors: readonly ProblemError[], sent: unknown, source: Source): Refused[] {
  return errors.map(({ name, detail }) => ({
    schema: {},
    value: (sent as Record<string, unknown> | null)?.[name.replace(/\[\d*\].*$/, '')],
    keyword: detail,
    source,
    isItem: false,
  }));
}

async function compare(
  described: Described,
  source: Source,
  value: unknown,
  errors: readonly ErrorObject[],
  sent: Parameters<typeof bind>[1],
): Promise<void> {
  const failures = await failuresOf(described, sent);
  const refused = documentRefuses(errors, source);
  const unexplained =
    refused.length > 0 && failures.length === 0
      ? refused.filter(one => !explained(LENIENT, one)).map(one => ({ 'only the document refuses': one }))
      : refused.length === 0 && failures.length > 0
        ? bindingRefuses(failures, value, source)
            .filter(one => !explained(LOOSE, one))
            .map(one => ({ 'only binding refuses': one }))
        : [];
  expect(unexplained).toEqual([]);
}

/** Few values of many endpoints: most faults are in how types are put together. */
const BOUNDS = { numRuns: 30, interruptAfterTimeLimit: 3_500 };
const VALUES = 6;

/** Checks a property, once more if the time was over before the first run: the machine has stood still. */
async function holds<T>(property: fc.IAsyncProperty<T>): Promise<void> {
  const run = await fc.check(property, BOUNDS);
  if (run.interrupted && run.numRuns === 0) await holds(property);
  else if (run.failed) throw new Error(await fc.asyncDefaultReportMessage(run), { cause: run.errorInstance });
}

/** Values by the schema, each followed by a mutation of it. */
const sampled = (schema: Schema, schemas: Record<string, Schema>): Arbitrary<unknown[]> =>
  fc
    .array(
      valuesOf(schema, schemas).chain(value => mutated(value).map(other => [value, other])),
      { minLength: VALUES, maxLength: VALUES },
    )
    .map(pairs => pairs.flat());

describe('binding agrees with the document', () => {
  it('about JSON bodies', async () => {
    await holds(
      fc.asyncProperty(endpoints, fc.gen(), async (described, gen) => {
        const { body, schemas } = described;
        const validate = validatorOf(body, schemas);
        for (const value of gen(() => sampled(body, schemas)))
          await compare(described, 'json', value, validate(value), { body: JSON.stringify(value) });
      }),
    );
  });

  it.each(['query', 'form'] as const)('about the values of a %s', async source => {
    await holds(
      fc.asyncProperty(endpoints, fc.gen(), async (described, gen) => {
        const { schemas, [source]: parameters } = described;
        const whole = objectOf(parameters);
        const validate = validatorOf(whole, schemas);
        for (const value of gen(() => sampled(whole, schemas))) {
          if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
          const texts = textsIn(value as Record<string, unknown>, parameters);
          const understood = understoodBy(texts, parameters);
          await compare(described, source, understood, validate(understood), { [source]: asSent(texts) });
        }
      }),
    );
  });
});

type Texts = Record<string, string | readonly string[]>;

/** Values as a client sends them: a list of one is one text, which `bind()` takes for one item in an array. */
const asSent = (texts: Texts): Texts =>
  Object.fromEntries(
    Object.entries(texts).map(([name, sent]) => {
      const [only, second] = [sent].flat();
      return [name, only !== undefined && second === undefined ? only : sent];
    }),
  );

function understoodBy(texts: Texts, parameters: readonly Parameter[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, sent]) => {
      const parameter = parameters.find(one => one.name === name);
      return [name, parameter ? understand(sent, parameter) : sent];
    }),
  );
}

/** Writes values as the document says: the items of a list one by one, structured values as JSON. */
function textsIn(values: Record<string, unknown>, parameters: readonly Parameter[]): Texts {
  const texts = Object.entries(values).map(([name, value]) => {
    const isJson = parameters.find(one => one.name === name)?.isJson;
    const textOf = (one: unknown): string => (isText(one) && !isJson ? one : JSON.stringify(one));
    return [name, Array.isArray(value) && !isJson ? value.map(textOf) : textOf(value)] as const;
  });
  // A list without items is not sent.
  return Object.fromEntries(texts.filter(([, sent]) => sent.length > 0 || isText(sent)));
}

/** Reads texts as a client of the document would: a number if the schema has one there, JSON where it says JSON. */
function understand(sent: string | readonly string[], { schema, isJson }: Parameter): unknown {
  const texts = [sent].flat() as string[];
  const [only = ''] = texts;
  if (texts.length === 1 && isJson) return parsed(only);
  if (schema['type'] === 'array') return texts.map(text => ofType(text, schema['items'] as Schema));
  return texts.length === 1 ? ofType(only, schema) : texts;
}

function ofType(
  text: string,
  { type, enum: values = [] }: { readonly type?: unknown; readonly enum?: unknown },
): unknown {
  const types = [type].flat();
  const isWhole = types.includes('integer');
  const value = (isWhole ? /^-?\d+$/ : /^(-?\d+(\.\d+)?(e[+-]?\d+)?|true|false)$/).test(text) ? parsed(text) : text;
  const isNumber = typeof value === 'number' && (isWhole || types.includes('number'));
  if (isNumber && (!types.includes('string') || (values as unknown[]).includes(value))) return value;
  return typeof value === 'boolean' && types.includes('boolean') ? value : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
