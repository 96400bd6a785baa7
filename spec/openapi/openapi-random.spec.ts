import express from 'express';
import fc, { type Arbitrary } from 'fast-check';
import {
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
  type ProblemError,
} from '../../lib';
import type { Sent } from '../support/ask';
import { bind } from '../support/one-endpoint';

type Schema = Readonly<Record<string, unknown>>;

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

/** The object that the parameters of a query or a form make. */
const objectOf = (parameters: readonly Parameter[]): Schema => ({
  type: 'object',
  properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
  required: parameters.filter(one => one.required).map(({ name }) => name),
});

/** Sends a request, and returns the failures. */
async function failuresOf({ Dto, options }: Described, sent: Sent): Promise<readonly ProblemError[]> {
  const { status, problem, response } = await bind(Dto, sent, options);
  if (status !== 200 && !problem) throw new Error(response.text);
  return problem ? (problem.errors ?? [{ name: '', in: 'body', detail: String(problem.detail) }]) : [];
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

interface JsonSchema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
}

/** Values that a schema of the document allows. */
function valuesOf(schema: Schema, schemas: Record<string, Schema>): Arbitrary<unknown> {
  const { $ref, anyOf, enum: values, type, items, properties, required = [] } = schema as JsonSchema;
  if ($ref !== undefined) return valuesOf(schemas[$ref.slice('#/components/schemas/'.length)] ?? {}, schemas);
  if (anyOf) return fc.oneof(...anyOf.map(one => valuesOf(one, schemas)));
  if (values) return fc.constantFrom(...values);
  const {
    minimum = -1e9,
    maximum = 1e9,
    minItems = 0,
    maxItems = LIMITS.items,
  } = schema as Record<string, number | undefined>;
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
        return textsOf(schema as JsonSchema);
      case 'array':
        return fc.array(valuesOf(items ?? {}, schemas), { minLength: minItems, maxLength: maxItems });
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
function textsOf({ format, pattern }: JsonSchema): Arbitrary<string> {
  if (format === 'uuid') return fc.uuid().map(id => (id.startsWith('0') ? id.toUpperCase() : id));
  if (format === 'date-time')
    return fc
      .tuple(fc.date({ min: new Date('0001-01-01'), max: new Date('9998-12-31'), noInvalidDate: true }), offsets)
      .map(([date, offset]) => date.toISOString().replace('Z', offset));
  if (format === 'uri') return fc.webUrl({ withFragments: true, withQueryParameters: true, size: 'xsmall' });
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('', ' ', 'null', 'a,b', '[1]', '[x', '{"a":1}', '5'));
}

/** What binding refuses although the document allows it: the message says why. */
const MEANT: readonly RegExp[] = [
  // More items of a list in a nested object than the endpoint takes: endpoints with other limits share the schema.
  new RegExp(`^There are \\d+ items; ${LIMITS.items} are allowed`),
  // More than 128 decimal places: JSON Schema has limits for large numbers, and none for small ones.
  /e-\d+ is not a decimal/,
  // An integer of more than 64 bits: the format int64 says it; as JSON numbers, the limits would be rounded.
  /is not a whole number of at most|more digits than can be read/,
  // A URI without a host: RFC 3986 allows it, and a URL of http needs one.
  /^The value "https?:.* is not a URL/i,
];
/** In a query or a form, a single text of a list is split at commas, or read as the JSON of the whole list. */
const isSplit = (sent: unknown): boolean =>
  Array.isArray(sent) && sent.length === 1 && /^\s*[[{]|,/.test(String(sent[0]));

/** Few values of many endpoints: most faults are in how types are put together. */
const BOUNDS = { numRuns: 40, interruptAfterTimeLimit: 3_500 };
const VALUES = 8;

/** Checks a property, once more if the time was over before the first run: the machine has stood still. */
async function holds<T>(property: fc.IAsyncProperty<T>): Promise<void> {
  const run = await fc.check(property, BOUNDS);
  if (run.interrupted && run.numRuns === 0) await holds(property);
  else if (run.failed) throw new Error(await fc.asyncDefaultReportMessage(run), { cause: run.errorInstance });
}

const sampled = (schema: Schema, schemas: Record<string, Schema>): Arbitrary<unknown[]> =>
  fc.array(valuesOf(schema, schemas), { minLength: VALUES, maxLength: VALUES });

describe('binding takes what the document allows', () => {
  it('in JSON bodies', async () => {
    await holds(
      fc.asyncProperty(endpoints, fc.gen(), async (described, gen) => {
        for (const value of gen(() => sampled(described.body, described.schemas))) {
          const failures = await failuresOf(described, { json: JSON.stringify(value) });
          expect(failures.filter(({ detail }) => !MEANT.some(meant => meant.test(detail)))).toEqual([]);
        }
      }),
    );
  });

  it.each(['query', 'form'] as const)('in a %s', async source => {
    await holds(
      fc.asyncProperty(endpoints, fc.gen(), async (described, gen) => {
        const { schemas, [source]: parameters } = described;
        for (const values of gen(() => sampled(objectOf(parameters), schemas))) {
          const texts = textsIn(values as Record<string, unknown>, parameters);
          const form = Object.entries(texts).flatMap(([name, sent]) => [sent].flat().map(one => [name, one] as const));
          const path = `/?${new URLSearchParams(form.map(pair => [...pair])).toString()}`;
          const failures = await failuresOf(described, source === 'form' ? { form } : { method: 'GET', path });
          const isMeant = ({ name, detail }: ProblemError): boolean =>
            MEANT.some(meant => meant.test(detail)) || isSplit(texts[name.replace(/\[\d*\].*$/, '')]);
          expect(failures.filter(one => !isMeant(one))).toEqual([]);
        }
      }),
    );
  });
});

type Texts = Record<string, string | readonly string[]>;

/** Writes values as the document says: the items of a list one by one, structured values as JSON. */
function textsIn(values: Record<string, unknown>, parameters: readonly Parameter[]): Texts {
  const texts = Object.entries(values).map(([name, value]) => {
    const isJson = parameters.find(one => one.name === name)?.isJson;
    const textOf = (one: unknown): string => (typeof one === 'string' && !isJson ? one : JSON.stringify(one));
    return [name, Array.isArray(value) && !isJson ? value.map(textOf) : textOf(value)] as const;
  });
  // A list without items is not sent.
  return Object.fromEntries(texts.filter(([, sent]) => sent.length > 0 || typeof sent === 'string'));
}
