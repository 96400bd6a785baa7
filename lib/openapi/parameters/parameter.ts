import { isStructured } from '../schemas/value-types';
import type { ParameterValue } from '../values/parameter-values';

/** A cookie is sent once. By default, a list would be sent as several cookies of one name. */
const COMMA_SEPARATED = { style: 'form', explode: false };

/** Writes a value outside of the body as OpenAPI has it (3.1, section 4.8.12). */
export function parameterOf({ name, in: where, required, schema, isExploded, example }: ParameterValue): object {
  const { description, ...rest } = schema as { readonly description?: string };
  const isCookieList = where === 'cookie' && [schema['type']].flat().includes('array');
  const shown = example !== undefined && { example };
  return {
    name,
    in: where,
    required,
    ...(description !== undefined && { description }),
    ...(isExploded
      ? { style: 'form', explode: true, schema: rest, ...shown }
      : isStructured(schema)
        ? { content: { 'application/json': { schema: rest, ...shown } } }
        : { ...(isCookieList && COMMA_SEPARATED), schema: rest, ...shown }),
  };
}
