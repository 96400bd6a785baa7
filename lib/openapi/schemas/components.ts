import { exactText } from '../../binding/types/exact-text';
import type { Source } from '../../problems/problem';
import { schemaOf } from '../../binding/declaration/describe';
import type { Codec } from '../../binding/types/codec';
import type { JsonSchema, Schemas, SizeLimits } from '../../binding/types/json-schema';
import { freeName } from '../names/free-name';
import { problemSchemas } from './problem-schemas';
import { standardSchemaIn, type JsonSchemaOf } from './standard-schema';

/**
 * The named schemas of one document. Equal ones of one name share it. A response whose schema is not the one that
 * requests have gets the suffix `Response`; any other that differs gets a number.
 */
export class Components {
  private readonly schemas: Record<string, JsonSchema> = { ...problemSchemas };
  private readonly names = new Map<string, string>();
  /** The texts of the schemas of requests, by wanted name. */
  private readonly inRequests = new Map<string, Set<string>>();

  /**
   * @param draft the components of the same document, made before: they tell which schemas requests have, so that names
   * do not depend on the order of the routes.
   */
  constructor(
    private readonly jsonSchemaOf: JsonSchemaOf | undefined,
    private readonly draft?: Components,
  ) {}

  /** Makes schemas for what one endpoint reads or writes. */
  schemasFor(direction: Schemas['direction'], limits?: SizeLimits, source?: Source): Schemas {
    /**
     * The named types in the text that is being made, in the order in which they come: a type may contain itself. Each
     * is described once; types that refer to each other would take factorial time otherwise.
     */
    let seen: Codec[] = [];
    const texts: Schemas = {
      direction,
      source,
      of: type => schemaOf(type, texts),
      named(type, name, make) {
        const at = seen.indexOf(type);
        if (at >= 0) return { seen: at };
        seen.push(type);
        return { name, ...make(texts) };
      },
      ofStandard: schema => standardSchemaIn(schema, direction, this.jsonSchemaOf),
    };
    const schemasWithin = (bounds: SizeLimits | undefined): Schemas => {
      const schemas: Schemas = {
        ...texts,
        limits: bounds,
        of: type => schemaOf(type, schemas),
        ofStandard: schema => this.referable(texts.ofStandard(schema), direction),
        // The text of the schema with all nested ones tells whether another type of this name is the same.
        named: (type, name, make) => {
          seen = [];
          return this.reference(name, textOf(texts.of(type)), direction, () => make(inside));
        },
      };
      return schemas;
    };
    const inside = schemasWithin(undefined);
    return schemasWithin(limits);
  }

  /** Returns the schema that a reference leads to; that of any value, if it leads to a part of one. */
  schemaAt(reference: string): JsonSchema {
    return this.schemas[reference.replace('#/components/schemas/', '')] ?? {};
  }

  /** Returns the schemas that something in the document refers to: of some types, only the parts are described. */
  usedIn(paths: object): Readonly<Record<string, JsonSchema>> {
    const used = new Set<string>();
    const follow = (part: unknown): void => {
      for (const [, name = ''] of (exactText(part) ?? '').matchAll(/"\$ref":"#\/components\/schemas\/([^"/]+)/g)) {
        if (used.has(name)) continue;
        used.add(name);
        follow(this.schemas[name]);
      }
    };
    follow(paths);
    return Object.fromEntries(Object.entries(this.schemas).filter(([name]) => used.has(name)));
  }

  /**
   * Names a schema that refers to parts of itself, as a recursive one does: inside the document, `#` would be the
   * document.
   */
  private referable(schema: JsonSchema, direction: Schemas['direction']): JsonSchema {
    const text = textOf(schema);
    if (!/"\$ref":"#/.test(text)) return schema;
    const { title } = schema;
    const wanted = typeof title === 'string' ? title : 'Schema';
    const own = (name: string): JsonSchema =>
      JSON.parse(text.replace(/"\$ref":"#/g, () => `"$ref":"#/components/schemas/${name}`)) as JsonSchema;
    return this.reference(wanted, text, direction, own);
  }

  private reference(
    wanted: string,
    text: string,
    direction: Schemas['direction'],
    make: (name: string) => JsonSchema,
  ): JsonSchema {
    // OpenAPI 3.1, section 4.8.7: other characters cannot be in the name of a component.
    const base = wanted.replace(/[^\w.-]/g, '_');
    if (direction === 'request') this.inRequests.set(base, (this.inRequests.get(base) ?? new Set()).add(text));
    const name = this.names.get(text) ?? this.freeName(base, text, direction);
    if (!this.names.has(text)) {
      this.names.set(text, name);
      // The place is taken before the schema is made: it may refer to itself.
      this.schemas[name] = {};
      this.schemas[name] = make(name);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  private freeName(base: string, text: string, direction: Schemas['direction']): string {
    const requests = this.draft?.inRequests.get(base);
    const own = direction === 'response' && requests?.has(text) === false ? `${base}Response` : base;
    return freeName(own, name => Object.hasOwn(this.schemas, name));
  }
}

const textOf = (schema: JsonSchema): string => exactText(schema) ?? '';
