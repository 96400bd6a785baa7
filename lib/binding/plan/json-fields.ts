import type { JsonObject } from '../reading/json-text';
import { readerOf, type Field, type ReadFields } from '../reading/compiled';
import type { RequestValues } from '../reading/request-values';
import { ownValue } from '../reading/own-value';
import type { Location } from '../reading/location';
import { readJson } from '../types/read-value';
import type { SourceProperty } from './source-properties';

interface SourceField extends Field {
  readonly sourceProperty: SourceProperty;
}

/** Makes the reader for the fields of a JSON body. Absent fields are skipped: another source may supply them. */
export function jsonFieldsOf(sourceProperties: readonly SourceProperty[]): ReadFields<RequestValues> {
  return readerOf(
    sourceProperties.map((sourceProperty): SourceField => ({
      key: sourceProperty.index,
      jsonName: sourceProperty.name,
      fast: sourceProperty.codec.fromJson.fast,
      sourceProperty,
    })),
    readField,
  );
}

function readField(
  { jsonName, sourceProperty }: SourceField,
  found: RequestValues,
  json: JsonObject,
  location: Location,
): void {
  const value = ownValue(json, jsonName);
  if (value === undefined) return;
  location.enter(jsonName);
  found.put(sourceProperty.index, readJson(sourceProperty, value, location));
  location.leave();
}
