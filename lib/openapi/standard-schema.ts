import type { JsonSchema, Schemas } from '../binding/types/json-schema';

/**
 * Returns the JSON Schema (2020-12) of a Standard Schema that offers none itself, or whose own conversion fails;
 * undefined if it is not known, either.
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
 * Returns the JSON Schema of a Standard Schema: the one that it offers, or else the application's.
 * @param given the application's own function.
 * @throws TypeError if there is none.
 */
export function standardSchemaIn(
  schema: object,
  direction: Schemas['direction'],
  given: JsonSchemaOf | undefined,
): JsonSchema {
  const offered = whatItOffers(schema as WithJsonSchema, direction === 'request' ? 'input' : 'output');
  const made = offered instanceof TypeError ? given?.(schema, direction) : offered;
  if (!made) throw offered as TypeError;
  // The dialect is that of the whole document.
  return Object.fromEntries(Object.entries(made).filter(([keyword]) => keyword !== '$schema'));
}

/** Returns the JSON Schema that a schema offers, or the error that says why there is none. */
function whatItOffers(schema: WithJsonSchema, io: 'input' | 'output'): JsonSchema | TypeError {
  const { vendor, jsonSchema } = schema['~standard'];
  const advice = 'Pass jsonSchemaOf, which gets the schema and returns its JSON Schema, or {} to leave it open';
  try {
    const made =
      jsonSchema?.[io]({ target: 'draft-2020-12' }) ?? schema.toJSONSchema?.({ io }) ?? schema.toJsonSchema?.();
    return (
      made ??
      new TypeError(
        `this schema of ${vendor} offers no JSON Schema. ${advice}; for valibot, toJsonSchema of ` +
          '@valibot/to-json-schema makes it.',
      )
    );
  } catch (error) {
    const { message } = error as Error;
    return new TypeError(`this schema of ${vendor} cannot be written as JSON Schema (${message}). ${advice}.`, {
      cause: error,
    });
  }
}
