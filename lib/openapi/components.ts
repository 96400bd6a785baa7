import { schemaOf } from '../binding/declaration/describe';
import type { Codec } from '../binding/types/codec';
import { exactText } from '../binding/types/write-value';
import type { JsonSchema, Schemas, SizeLimits } from '../binding/types/json-schema';
import { LOCATIONS } from '../problems/problem';
import { freeName } from './express-paths';
import { standardSchemaIn, type JsonSchemaOf } from './standard-schema';

/** The components that the descriptions of refusals refer to. */
const problemSchemas = {
  Problem: {
    type: 'object',
    description: 'A refused request (RFC 9457).',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: { type: 'string', format: 'uri', description: 'Identifies the kind of problem.' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'What happened, and what to do.' },
      instance: { type: 'string', description: 'The path of the request.' },
      errors: { type: 'array', items: { $ref: '#/components/schemas/InvalidValue' } },
    },
  },
  InvalidValue: {
    type: 'object',
    required: ['name', 'in', 'detail'],
    properties: {
      name: { type: 'string', description: 'Name that the value was looked up under.' },
      in: { type: 'string', enum: [...LOCATIONS] },
      pointer: {
        type: 'string',
        description:
          'JSON Pointer (RFC 6901): the place in the JSON body, or in the JSON text that was sent as the value to ' +
          'which `in` and the beginning of `name` lead.',
      },
      detail: { type: 'string' },
    },
  },
};

/** Makes the schema that has a name. */
type Make = (name: string) => JsonSchema;

/** What schemas are for. */
type Facts = Pick<Schemas, 'direction' | 'source' | 'isClosed'>;

/**
 * The named schemas of one document. Equal ones of one name share it. A response whose schema is not the one that has
 * its name already gets the suffix `Response`; any other that differs gets a number.
 */
export class Components {
  readonly schemas: Record<string, JsonSchema> = { ...problemSchemas };
  /** The names, by the texts of the schemas with all nested ones. */
  private readonly names = new Map<string, string>();

  constructor(private readonly jsonSchemaOf: JsonSchemaOf | undefined) {}

  /** Makes schemas for what one endpoint reads or writes. */
  schemasFor(facts: Facts, limits?: SizeLimits): Schemas {
    const named: Schemas['named'] = (type, name, make) =>
      this.reference(name, this.textFor(type, facts), facts.direction, () => make(inside));
    const ofStandard: Schemas['ofStandard'] = schema =>
      this.referable(standardSchemaIn(schema, facts.direction, this.jsonSchemaOf), facts.direction);
    // Endpoints with other limits share a schema that has a name.
    const inside = schemasWith({ ...facts, named, ofStandard });
    return schemasWith({ ...facts, limits, named, ofStandard });
  }

  /** Returns the text of a schema with all nested ones: it tells whether another type of this name is the same. */
  private textFor(root: Codec, facts: Facts): string {
    // A type may contain itself; types that refer to each other would take factorial time if each were repeated.
    const seen: Codec[] = [];
    const texts = schemasWith({
      ...facts,
      named(type, name, make) {
        const at = seen.indexOf(type);
        return at >= 0 ? { seen: at } : { name, order: seen.push(type), ...make(texts) };
      },
      ofStandard: schema => standardSchemaIn(schema, facts.direction, this.jsonSchemaOf),
    });
    return textOf(texts.of(root));
  }

  /**
   * Names a schema that refers to parts of itself, as a recursive one does: inside the document, `#` would be the
   * document.
   */
  private referable(schema: JsonSchema, direction: Schemas['direction']): JsonSchema {
    const text = textOf(schema);
    if (!/"\$ref":"#/.test(text)) return schema;
    const { title = 'Schema' } = schema as { readonly title?: string };
    return this.reference(title, text, direction, name => {
      const whole = text.replace(/"\$ref":"#/g, () => `"$ref":"#/components/schemas/${name}`);
      return JSON.parse(whole) as JsonSchema;
    });
  }

  private reference(wanted: string, text: string, direction: Facts['direction'], make: Make): JsonSchema {
    let name = this.names.get(text);
    if (name === undefined) {
      const isTaken = (one: string): boolean => Object.hasOwn(this.schemas, one);
      // OpenAPI 3.1, section 4.8.7: other characters cannot be in the name of a component.
      const base = wanted.replace(/[^\w.-]/g, '_');
      name = freeName(direction === 'response' && isTaken(base) ? `${base}Response` : base, isTaken);
      this.names.set(text, name);
      // The place is taken before the schema is made: it may refer to itself.
      this.schemas[name] = {};
      this.schemas[name] = make(name);
    }
    return { $ref: `#/components/schemas/${name}` };
  }
}

function schemasWith(given: Omit<Schemas, 'of'>): Schemas {
  const schemas: Schemas = { ...given, of: type => schemaOf(type, schemas) };
  return schemas;
}

const textOf = (schema: JsonSchema): string => exactText(schema) ?? '';

/** Returns a value of the application as `JSON.stringify` writes it; a bigint that a double would round, as text. */
export const plainJson = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, one: unknown) =>
      typeof one !== 'bigint' ? one : Number.isSafeInteger(Number(one)) ? Number(one) : String(one),
    ),
  );
