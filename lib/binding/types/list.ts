import { jsonInText } from '../json-text';
import { INVALID, type Invalid, type Place } from '../place';
import type { AnyType, Infer, PropertyType } from './property-type';
import { innerTypeOf } from './type-of';

/**
 * A collection. As text: repeated values, each one item; or one value that is a JSON array, JSON objects with commas between
 * them (Swagger UI sends `{..},{..}`), or comma-separated.
 */
export function list<X extends AnyType>(type: X): PropertyType<Infer<X>[]> {
  const item = innerTypeOf(type) as PropertyType<Infer<X>>;
  const name = `list of ${item.name}`;

  const each = <V>(values: readonly V[], place: Place, read: (value: V, index: number) => Infer<X> | Invalid): Infer<X>[] | Invalid => {
    if (values.length > place.maxItems) return place.fail(`There are ${values.length} items; ${place.maxItems} are allowed.`);
    const items: Infer<X>[] = [];
    let valid = true;
    for (const [index, value] of values.entries()) {
      const item = read(value, index);
      if (item === INVALID) valid = false;
      else items.push(item);
    }
    return valid ? items : INVALID;
  };

  const fromJson = (value: unknown, place: Place): Infer<X>[] | Invalid =>
    (Array.isArray(value) ? each(value as unknown[], place, (one, index) => item.fromJson(one, place.item(index))) : place.failValue(value, name));

  return {
    name,
    shape: item.shape === 'file' ? 'file' : 'list',
    isCollection: true,
    ...(item.mistake && { mistake: item.mistake }),
    keepsDigits: item.keepsDigits ?? false,
    fromJson,
    fromText(values, place) {
      const [only = ''] = values;
      if (values.length === 1) {
        const text = only.trim();
        if (text.startsWith('[')) return jsonInText(text, place, fromJson);
        if (text.startsWith('{')) return jsonInText(`[${text}]`, place, fromJson);
      }
      return each(values.length === 1 ? splitAtCommas(only) : values, place, one => item.fromText([place.source === 'header' ? one.trim() : one], place));
    },
    ...(item.fromFiles && {
      fromFiles: (files: readonly Express.Multer.File[], place: Place) => each(files, place, one => item.fromFiles?.([one], place) ?? INVALID),
    }),
  };
}

/** One value with commas is split, except where that would make an empty item: such a comma belongs to the text. */
function splitAtCommas(text: string): string[] {
  const parts = text.split(',');
  return parts.some(part => part.trim() === '') ? [text] : parts;
}
