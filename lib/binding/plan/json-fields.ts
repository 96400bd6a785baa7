import type { JsonObject } from '../json/json-text';
import { readerOf, type Field, type ReadFields } from '../reading/compiled';
import type { Found } from '../reading/found';
import { ownValue } from '../reading/own-value';
import type { Place } from '../reading/place';
import { readJson } from '../reading/reading';
import type { Slot } from './slots';

interface SlotField extends Field {
  readonly slot: Slot;
}

/** What reads the fields of a JSON body. What is not there, another source may have. */
export function jsonFieldsOf(slots: readonly Slot[]): ReadFields<Found> {
  return readerOf(
    slots.map((slot): SlotField => ({
      key: slot.index,
      jsonName: slot.name,
      byItself: slot.codec.fromJson.byItself,
      slot,
    })),
    readField,
  );
}

function readField({ jsonName, slot }: SlotField, found: Found, json: JsonObject, place: Place): void {
  const value = ownValue(json, jsonName);
  if (value === undefined) return;
  place.enter(jsonName);
  found.put(slot.index, readJson(slot, value, place));
  place.leave();
}
