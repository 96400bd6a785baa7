import express, { type Express } from 'express';
import fc, { type Arbitrary } from 'fast-check';
import { bindRequest, bool, dateTime, decimal, double, dto, enumOf, field, guid, int, list, long } from '../../lib';
import { nullable, openapi, optional, string, timeSpan, uri, version } from '../../lib';
import type { AnyType, BindingOptions, ProblemError } from '../../lib';
import { ask, problemIn, type Sent } from '../support/ask';

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly contentSchema?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface Operation {
  readonly parameters?: readonly { name: string; required: boolean; schema: Schema; style?: string }[];
  readonly requestBody?: {
    readonly content: Record<string, { schema: Schema; encoding?: Record<string, { contentType: string }> }>;
  };
}

/** The object that the values of a source make, in the words of the document, and those that are sent as JSON text. */
interface Described {
  readonly object: Schema;
  readonly asJson: ReadonlySet<string>;
}

/** What the document says of one endpoint. */
interface Endpoint extends Record<'json' | 'query' | 'form', Described> {
  readonly app: Express;
  readonly schemas: Record<string, Schema>;
}

enum Level {
  Low = 1,
  High = 10,
}
const LIMITS = { items: 4 };
const FORM = 'application/x-www-form-urlencoded';

function endpointOf(Dto: AnyType, given: BindingOptions): Endpoint {
  const options: BindingOptions = { ...given, limits: LIMITS, allowFormData: { urlEncoded: true } };
  const app = express();
  for (const method of ['get', 'post'] as const)
    app[method]('/', bindRequest(Dto, options) as express.RequestHandler, (_req, res) => void res.json(null));
  const { paths, components } = openapi(app, { info: { title: 'Random', version: '1' } }) as unknown as {
    paths: Record<'/', Record<'get' | 'post', Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  const { get, post } = paths['/'];
  const { parameters = [] } = get;
  const { [FORM]: form, 'application/json': json } = post.requestBody?.content ?? {};
  const encodings = Object.entries(form?.encoding ?? {}).filter(([, one]) => one.contentType === 'application/json');
  return {
    app,
    schemas: components.schemas,
    json: { object: json?.schema ?? {}, asJson: new Set() },
    query: {
      object: {
        type: 'object',
        properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema.contentSchema ?? schema])),
        required: parameters.filter(({ required }) => required).map(({ name }) => name),
      },
      // What has a style, which `openapi-generators.spec.ts` sends, can be JSON as well.
      asJson: new Set(
        parameters
          .filter(({ schema, style }) => schema.contentSchema !== undefined || style === 'deepObject')
          .map(({ name }) => name),
      ),
    },
    form: { object: form?.schema ?? { type: 'object' }, asJson: new Set(encodings.map(([name]) => name)) },
  };
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

/** The ways to declare a property. */
const ways: readonly ((type: AnyType, name: string) => AnyType | ReturnType<typeof field>)[] = [
  type => type,
  type => optional(type),
  type => field(type, { default: () => null as never }),
  type => field(type, { required: false }),
  (type, name) => field(type, { bindFrom: `from-${name}`, jsonPropertyName: `${name}.json`, description: 'Renamed.' }),
];

const dtos = (depth: number): Arbitrary<AnyType> =>
  fc
    .uniqueArray(
      fc.tuple(
        fc.constantFrom('id', 'unitPrice', 'customerID', 'URLPath', 'a_b', 'line2'),
        types(depth),
        fc.constantFrom(...ways),
      ),
      { minLength: 1, selector: ([name]) => name },
    )
    .map(members => dto(Object.fromEntries(members.map(([name, type, declare]) => [name, declare(type, name)]))));

const policies = fc.constantFrom('camelCase' as const, 'snake_case' as const, 'kebab-case' as const);
const endpoints = fc
  .tuple(dtos(2), policies)
  .map(([Dto, propertyNamingPolicy]) => endpointOf(Dto, { propertyNamingPolicy }));

/** Values that a schema of the document allows. */
function valuesOf(schema: Schema, schemas: Record<string, Schema>): Arbitrary<unknown> {
  const { $ref, anyOf, enum: values, items = {}, properties = {}, required = [] } = schema;
  const { minimum = -1e9, maximum = 1e9, minItems = 0, maxItems = LIMITS.items } = schema;
  if ($ref !== undefined) return valuesOf(schemas[$ref.slice('#/components/schemas/'.length)] ?? {}, schemas);
  if (anyOf) return fc.oneof(...anyOf.map(one => valuesOf(one, schemas)));
  if (values) return fc.constantFrom(...values);
  const ofType = (type: string | undefined): Arbitrary<unknown> => {
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.constantFrom(minimum, maximum, 0));
      case 'number':
        // Exponents that a decimal can have, too.
        return fc.oneof(
          fc.double({ noNaN: true, min: -1e20, max: 1e20 }).map(one => (Math.abs(one) < 1e-100 ? 0 : one)),
          fc.integer(),
        );
      case 'string':
        return textsOf(schema);
      case 'array':
        return fc.array(valuesOf(items, schemas), { minLength: minItems, maxLength: maxItems });
      case 'object': {
        const members = Object.entries(properties).map(([name, one]) => [name, valuesOf(one, schemas)]);
        return fc.record(Object.fromEntries(members), { requiredKeys: required as never[] });
      }
      default:
        throw new Error(`A schema without a type: ${JSON.stringify(schema)}`);
    }
  };
  return fc.oneof(...[schema.type].flat().map(ofType));
}

const offsets = fc.constantFrom('Z', 'z', '+05:30', '-11:00');
function textsOf({ format, pattern }: Schema): Arbitrary<string> {
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

type Pairs = readonly (readonly [name: string, text: string])[];

/** Writes values as the document says: the items of a list one by one, structured values as JSON. */
const pairsOf = (values: object, { asJson }: Described): Pairs =>
  Object.entries(values).flatMap(([name, value]: [string, unknown]): Pairs => {
    const textOf = (one: unknown): string => (typeof one === 'string' && !asJson.has(name) ? one : JSON.stringify(one));
    return Array.isArray(value) && !asJson.has(name)
      ? value.map((one: unknown) => [name, textOf(one)] as const)
      : [[name, textOf(value)]];
  });
/** A single text of a list is split at commas, or read as the JSON of the whole list. */
const isSplit = (pairs: Pairs, { name }: ProblemError): boolean => {
  const texts = pairs.filter(([own]) => own === name.replace(/\[\d*\].*$/, ''));
  return texts.length === 1 && /^\s*[[{]|,/.test(texts[0]?.[1] ?? '');
};

/** Few values of many endpoints: most faults are in how types are put together. */
const BOUNDS = { numRuns: 40, interruptAfterTimeLimit: 3_500 };
const VALUES = 8;

/** Checks a property, once more if the time was over before the first run: the machine has stood still. */
async function holds<T>(property: fc.IAsyncProperty<T>): Promise<void> {
  const run = await fc.check(property, BOUNDS);
  if (run.interrupted && run.numRuns === 0) await holds(property);
  else if (run.failed) throw new Error(await fc.asyncDefaultReportMessage(run), { cause: run.errorInstance });
}

it.each<['json' | 'query' | 'form', (values: object, pairs: Pairs) => Sent]>([
  ['json', json => ({ json })],
  ['query', (_values, pairs) => ({ method: 'GET', path: `/?${new URLSearchParams(pairs as [string, string][])}` })],
  ['form', (_values, form) => ({ form })],
])('binding takes what the document allows: %s', async (source, write) => {
  await holds(
    fc.asyncProperty(endpoints, fc.gen(), async (endpoint, gen) => {
      const { app, schemas, [source]: described } = endpoint;
      const samples = fc.array(valuesOf(described.object, schemas), { minLength: VALUES, maxLength: VALUES });
      for (const values of gen(() => samples) as object[]) {
        const pairs = source === 'json' ? [] : pairsOf(values, described);
        const response = await ask(app, write(values, pairs));
        const { errors = [] } = problemIn(response) ?? {};
        const isMeant = (one: ProblemError): boolean =>
          MEANT.some(meant => meant.test(one.detail)) || isSplit(pairs, one);
        expect(errors.filter(one => !isMeant(one))).toEqual([]);
        expect([200, ...(errors.length > 0 ? [400] : [])]).toContain(response.status);
      }
    }),
  );
});
