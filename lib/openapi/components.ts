import { schemaOf, type Schemas } from '../binding/declaration/describe';
import type { Codec, JsonSchema } from '../binding/types/codec';
import { exactText } from '../binding/types/write-value';
import { LOCATIONS } from '../problems/problem';
import { freeName } from './express-paths';

/**
 * Returns the JSON Schema (2020-12) of a Standard Schema that offers none itself, or whose own conversion fails;
 * undefined if it is not known, either.
 */
export type JsonSchemaOf = (schema: object, direction: Schemas['direction']) => JsonSchema | undefined;

/** The components that the descriptions of refusals refer to. */
const problemSchemas = {
  Problem: {
    type: 'object',
    description: 'A refused request (RFC 9457); `detail` says what happened, and what to do.',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      ...{ type: { type: 'string', format: 'uri' }, title: { type: 'string' }, status: { type: 'integer' } },
      ...{ detail: { type: 'string' }, instance: { type: 'string' } },
      errors: { type: 'array', items: { $ref: '#/components/schemas/InvalidValue' } },
    },
  },
  InvalidValue: {
    type: 'object',
    required: ['name', 'in', 'detail'],
    properties: {
      name: { type: 'string', description: 'Name that the value was looked up under.' },
      detail: { type: 'string' },
      // No enum: a generator would name a TypeScript enum `in`.
      in: { type: 'string', description: `Where it was looked up: ${LOCATIONS.join(', ')}.` },
      pointer: { type: 'string', description: 'JSON Pointer (RFC 6901) into the JSON of the body or the value.' },
    },
  },
};

/** What schemas are for. */
type Facts = Pick<Schemas, 'direction' | 'source' | 'isClosed'>;

/** A schema that gets a name when all others are known. */
interface Entry {
  /** The name that it has if no other schema wants it. */
  readonly wanted: string;
  readonly direction: Facts['direction'];
  schema: JsonSchema;
}

/** What stands in the place of a name until there are names: the number of the entry. */
const MARK = /#\/components\/schemas\/\?(\d+)\?/g;

/**
 * The named schemas of one document. Equal ones of one name share it. A response whose schema is not the one that has
 * its name already gets the suffix `Response`; any other that differs gets a number. Which one gets which depends on
 * the schemas alone, not on the order of routes: a route more or less must not rename the types of generated clients.
 */
export class Components {
  private readonly entries: Entry[] = [];

  constructor(private readonly jsonSchemaOf: JsonSchemaOf | undefined) {}

  /** Makes schemas for what one endpoint reads or writes. */
  schemasFor(facts: Facts): Schemas {
    const known = new Map<Codec, JsonSchema>();
    const schemas: Schemas = {
      ...facts,
      of: type => schemaOf(type, schemas),
      named: (type, name, make) =>
        known.get(type) ??
        this.add(name, facts.direction, reference => {
          // It may refer to itself.
          known.set(type, reference);
          return make();
        }),
      ofStandard: schema =>
        this.referable(standardSchemaIn(schema, facts.direction, this.jsonSchemaOf), facts.direction),
    };
    return schemas;
  }

  /** Names a schema that is made already; one without a name stays as it is. */
  named(name: string, schema: JsonSchema): JsonSchema {
    return name === '' ? schema : this.add(name, 'request', () => schema);
  }

  /**
   * Adds the schemas to a document, and puts their names where they are referred to.
   * @param others the other components.
   */
  complete(document: object, others: object): unknown {
    const sorted = this.entries
      .map((entry, mark) => ({ ...entry, mark, text: `${entry.wanted} ${this.textOf(entry.schema)}` }))
      .map(one => ({ ...one, place: `${one.wanted} ${one.direction} ${one.text}` }))
      .sort((one, other) => (one.place < other.place ? -1 : 1));
    // The plain names first: no number may take the name of another class.
    const firsts = sorted.filter(({ wanted }, at) => sorted[at - 1]?.wanted !== wanted);
    const schemas: Record<string, JsonSchema> = { ...problemSchemas };
    const isTaken = (name: string): boolean => Object.hasOwn(schemas, name);
    const [byText, names] = [new Map<string, string>(), new Map<number, string>()];
    for (const { mark, wanted, direction, schema, text } of [...firsts, ...sorted]) {
      const free = direction === 'response' && isTaken(wanted) ? `${wanted}Response` : wanted;
      const name = byText.get(text) ?? freeName(free, isTaken);
      byText.set(text, name);
      names.set(mark, name);
      schemas[name] = schema;
    }
    const text = JSON.stringify(plainJson({ ...document, components: { schemas, ...others } }));
    return JSON.parse(text.replace(MARK, (_mark, mark) => `#/components/schemas/${names.get(Number(mark)) ?? ''}`));
  }

  /** Returns the text of a schema with all nested ones, each once: a type may contain itself. */
  private textOf(schema: JsonSchema, seen: string[] = []): string {
    return textOf(schema).replace(MARK, (_mark, mark: string) => {
      const at = seen.indexOf(mark);
      if (at >= 0) return `?${at}`;
      seen.push(mark);
      const { wanted, schema: nested = {} } = this.entries[Number(mark)] ?? {};
      return `${wanted ?? ''} ${this.textOf(nested, seen)}`;
    });
  }

  /**
   * Names a schema that refers to parts of itself, as a recursive one does: inside the document, `#` would be the
   * document.
   */
  private referable(schema: JsonSchema, direction: Schemas['direction']): JsonSchema {
    const text = textOf(schema);
    if (!/"\$ref":"#/.test(text)) return schema;
    const { title = 'Schema' } = schema as { readonly title?: string };
    return this.add(title, direction, ({ $ref }) => {
      const whole = text.replace(/"\$ref":"#/g, () => `"$ref":"${String($ref)}`);
      return JSON.parse(whole) as JsonSchema;
    });
  }

  private add(name: string, direction: Facts['direction'], make: (reference: JsonSchema) => JsonSchema): JsonSchema {
    const reference = { $ref: `#/components/schemas/?${this.entries.length}?` };
    // OpenAPI 3.1, section 4.8.7: other characters cannot be in the name of a component.
    const entry: Entry = { wanted: name.replace(/[^\w.-]/g, '_'), direction, schema: {} };
    this.entries.push(entry);
    entry.schema = make(reference);
    return reference;
  }
}

const textOf = (schema: JsonSchema): string => exactText(schema) ?? '';

/** Returns a value of the application as `JSON.stringify` writes it; a bigint that a double would round, as text. */
export const plainJson = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, one: unknown) =>
      typeof one !== 'bigint' ? one : Number.isSafeInteger(Number(one)) ? Number(one) : String(one),
    ),
  );

/** A Standard Schema, which may have a JSON Schema (standardschema.dev, Standard JSON Schema). */
interface WithJsonSchema {
  readonly '~standard': {
    readonly vendor: string;
    readonly jsonSchema?: Readonly<Record<'input' | 'output', (options: { target: string }) => JsonSchema>>;
  };
}

/**
 * Returns the JSON Schema of a Standard Schema: the one that it offers, or else the application's.
 * @param given the application's own function.
 * @throws TypeError if there is none.
 */
function standardSchemaIn(
  schema: object,
  direction: Schemas['direction'],
  given: JsonSchemaOf | undefined,
): JsonSchema {
  const { '~standard': standard } = schema as WithJsonSchema;
  let made: JsonSchema | undefined;
  let fault: unknown;
  try {
    made = standard.jsonSchema?.[direction === 'request' ? 'input' : 'output']({ target: 'draft-2020-12' });
  } catch (error) {
    fault = error;
  }
  made ??= given?.(schema, direction);
  // The dialect is that of the whole document.
  if (made) return Object.fromEntries(Object.entries(made).filter(([keyword]) => keyword !== '$schema'));
  const advice = 'Pass jsonSchemaOf, which gets the schema and returns its JSON Schema, or {} to leave it open';
  const problem =
    fault instanceof Error
      ? `cannot be written as JSON Schema (${fault.message}). ${advice}.`
      : `offers no JSON Schema. ${advice}; for valibot, toJsonSchema of @valibot/to-json-schema makes it.`;
  throw new TypeError(`this schema of ${standard.vendor} ${problem}`, { cause: fault });
}
