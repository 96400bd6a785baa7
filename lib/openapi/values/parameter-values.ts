import type { PathParameter } from '../routing/path-templates';
import { bothTexts } from '../schemas/both';
import { both, type Value } from './values';

/** A value outside of the body. */
export interface ParameterValue extends Value {
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  /** True if the properties of the value are parameters, as for `fromQuery` of a union. */
  readonly isExploded?: boolean;
  readonly example?: unknown;
}

export const inQuery = (value: Value): ParameterValue => ({ ...value, in: 'query' });

/** Describes a path parameter that no property binds from. */
export const inPathOnly = ({ name }: PathParameter): ParameterValue => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
});

/**
 * Makes one parameter of those with the same name: a client sends one value, which all of them read. Names of query
 * parameters and of headers match in any case; in a path, `{Id}` and `{id}` are two values.
 */
export function merged(parameters: readonly ParameterValue[]): ParameterValue[] {
  const byName = new Map<string, ParameterValue>();
  for (const one of parameters) {
    const key = `${one.in} ${one.in === 'cookie' || one.in === 'path' ? one.name : one.name.toLowerCase()}`;
    const other = byName.get(key);
    byName.set(key, other ? both(other, one, bothTexts) : one);
  }
  return [...byName.values()];
}
