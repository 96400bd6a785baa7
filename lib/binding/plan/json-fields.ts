import type { JsonObject } from '../json/json-text';
import { readerOf, type Field, type ReadFields } from '../reading/compiled';
import type { Filling } from '../reading/filling';
import { ownValue } from '../reading/own-value';
import type { Place } from '../reading/place';
import { readJson } from '../reading/reading';
import type { Slot } from './slots';

interface SlotField extends Field {
  readonly slot: Slot;
}

/** What reads the fields of a JSON body. What is not there, another source may have. */
export function jsonFieldsOf(slots: readonly Slot[]): ReadFields {
  return readerOf(slots.map((slot): SlotField => ({ property: slot.property, jsonName: slot.name, ifJson: slot.codec.ifJson, slot })), readField);
}

function readField({ property, jsonName, slot }: SlotField, filling: Filling, json: JsonObject, place: Place): void {
  const value = ownValue(json, jsonName);
  if (value === undefined) return;
  place.enter(jsonName);
  filling.put(property, readJson(slot, value, place));
  place.leave();
}
