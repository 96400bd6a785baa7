import type { JsonSchema, Schemas } from '../../binding/types/json-schema';

/**
 * Returns the JSON Schema (2020-12) of a Standard Schema that offers none itself; undefined if it is not known, either.
 */
export type JsonSchemaOf = (schema: object, direction: Schemas['direction']) => JsonSchema | undefined;

/** A Standard Schema that has a JSON Schema (standardschema.dev, Standard JSON Schema). */
interface WithJsonSchema {
  readonly '~standard': {
    readonly vendor: string;
    readonly jsonSchema?: Readonly<Record<'input' | 'output', (options: { target: string }) => JsonSchema>>;
  };
  /** arktype and zod before they knew the standard. */
  readonly toJsonSchema?: () => JsonSchema;
  readonly toJSONSchema?: (options: { io: 'input' | 'output' }) => JsonSchema;
}

/**
 * Returns the JSON Schema of a Standard Schema.
 * @param given the application's own function, which comes first.
 * @throws TypeError if there is none.
 */
export function standardSchemaIn(
  schema: object,
  direction: Schemas['direction'],
  given: JsonSchemaOf | undefined,
): JsonSchema {
  const io = direction === 'request' ? 'input' : 'output';
  const own = schema as WithJsonSchema;
  const { vendor, jsonSchema } = own['~standard'];
  const made =
    given?.(schema, direction) ??
    whatItOffers(
      () => jsonSchema?.[io]({ target: 'draft-2020-12' }) ?? own.toJSONSchema?.({ io }) ?? own.toJsonSchema?.(),
      vendor,
    );
  if (!made)
    throw new TypeError(
      `this schema of ${vendor} offers no JSON Schema. Pass jsonSchemaOf, which gets the schema and returns its ` +
        'JSON Schema, or {} to leave it open; for valibot, toJsonSchema of @valibot/to-json-schema makes it.',
    );
  // The dialect is that of the whole document.
  return Object.fromEntries(Object.entries(made).filter(([keyword]) => keyword !== '$schema'));
}

function whatItOffers(make: () => JsonSchema | undefined, vendor: string): JsonSchema | undefined {
  try {
    return make();
  } catch (error) {
    throw new TypeError(
      `this schema of ${vendor} cannot be written as JSON Schema (${(error as Error).message}). Pass ` +
        'jsonSchemaOf, which gets the schema and returns its JSON Schema, or {} to leave it open.',
      { cause: error },
    );
  }
}
