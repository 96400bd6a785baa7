import type { SourceProperty } from '../plan/source-properties';
import { someWithin } from '../types/codec';
import { queryOf } from './query';
import type { RequestInput } from './request-input';

/**
 * Finds the name of a query parameter or form field below a property that is not read there: `a.city` for a property
 * `a`. Without `fromQuery` or `fromForm`, an object is read only from JSON.
 */
export function unreadNameBelow({ name, codec }: SourceProperty, input: RequestInput): string | undefined {
  if (!someWithin(codec, ({ shape }) => shape === 'object' || shape === 'schema')) return undefined;
  const { body, req, options } = input;
  const form = body.kind === 'form' || body.kind === 'text' ? body.form : undefined;
  const sent = [...queryOf(req, options.limits.fields), ...(form?.fields ?? [])].map(([one]) => one);
  const prefixes = ['.', '['].map(mark => `${name}${mark}`.toLowerCase());
  return sent.find(one => prefixes.some(prefix => one.toLowerCase().startsWith(prefix)));
}
