import type { SourceProperty } from '../plan/source-properties';
import { isReadByName, someWithin } from '../types/codec';
import type { RequestInput } from './request-input';

/**
 * Finds the name of a query parameter or form field below a property that is not read there: `a.city` for a property
 * `a`. Without `fromQuery` or `fromForm`, an object is read only from JSON.
 */
export function unreadNameBelow({ name, codec }: SourceProperty, input: RequestInput): string | undefined {
  if (!someWithin(codec, isReadByName)) return undefined;
  const start = name.toLowerCase();
  return input.namesWithParts.find(
    ({ anyCase }) => anyCase.startsWith(start) && ['.', '['].includes(anyCase.charAt(start.length)),
  )?.sent;
}
