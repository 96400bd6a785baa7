import { stringify } from 'lossless-json';
import type { Source } from '../binding/declaration/property';
import type { Describable, JsonSchema, Schemas } from '../binding/types/json-schema';
import { problemSchemas } from './refusals';
import { standardSchemaIn, type JsonSchemaOf } from './standard-schema';

/** The named schemas of one document. Equal ones of one name share it; others get the name with a number. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = { ...problemSchemas };
  private readonly names = new Map<string, string>();

  constructor(private readonly jsonSchemaOf: JsonSchemaOf | undefined) {}

  /** Makes schemas for what one endpoint reads or writes. */
  schemasFor(direction: Schemas['direction'], maxItems: number, source?: Source): Schemas {
    /** The named types that are being described, outermost first: a type may contain itself. */
    const open: Describable[] = [];
    const texts: Schemas = {
      direction,
      maxItems,
      source,
      of: type => type.schema?.(texts) ?? {},
      named(type, name, make) {
        const at = open.indexOf(type);
        if (at >= 0) return { recursive: open.length - at };
        open.push(type);
        const schema = { name, ...make() };
        open.pop();
        return schema;
      },
      ofStandard: schema => standardSchemaIn(schema, direction, this.jsonSchemaOf),
    };
    const schemas: Schemas = {
      ...texts,
      of: type => type.schema?.(schemas) ?? {},
      ofStandard: schema => this.referable(texts.ofStandard(schema)),
      // The text of the schema with all nested ones tells whether another type of this name is the same.
      named: (type, name, make) => ({ $ref: `#/components/schemas/${this.named(name, textOf(texts.of(type)), make)}` }),
    };
    return schemas;
  }

  /**
   * Names a schema that refers to parts of itself, as a recursive one does: inside the document, `#` would be the
   * document.
   */
  private referable(schema: JsonSchema): JsonSchema {
    const text = textOf(schema);
    if (!/"\$ref":"#/.test(text)) return schema;
    const { title } = schema;
    const name = this.named(typeof title === 'string' ? title : 'Schema', text, () => ({}));
    this.schemas[name] = JSON.parse(
      text.replace(/"\$ref":"#/g, () => `"$ref":"#/components/schemas/${name}`),
    ) as JsonSchema;
    return { $ref: `#/components/schemas/${name}` };
  }

  private named(wanted: string, text: string, make: () => JsonSchema): string {
    const known = this.names.get(text);
    if (known !== undefined) return known;
    // OpenAPI 3.1, section 4.8.7: other characters cannot be in the name of a component.
    const base = wanted.replace(/[^\w.-]/g, '_');
    let name = base;
    for (let count = 2; name in this.schemas; count++) name = `${base}${count}`;
    this.names.set(text, name);
    // The place is taken before the schema is made: it may refer to itself.
    this.schemas[name] = {};
    this.schemas[name] = make();
    return name;
  }
}

const textOf = (schema: JsonSchema): string => stringify(schema) ?? '';
