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
  const { '~standard': standard, toJSONSchema, toJsonSchema } = schema as WithJsonSchema;
  const io = direction === 'request' ? 'input' : 'output';
  let made: JsonSchema | undefined;
  let fault: unknown;
  try {
    const own = standard.jsonSchema?.[io]({ target: 'draft-2020-12' });
    made = own ?? toJSONSchema?.call(schema, { io }) ?? toJsonSchema?.call(schema);
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
