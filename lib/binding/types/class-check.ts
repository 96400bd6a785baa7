import type { Location } from '../reading/location';
import { notNull, objectsOf, type ClassCheck, type Codec, type ObjectCodec } from './codec';

/**
 * Reports what is wrong with a dto of type `T`, in its `static check(dto, fail)`.
 * @param name a property, or a path like `items[0].sku`; it is reported under the client's name for it.
 * @param reason a sentence for the client.
 */
export type Fail<T> = (name: (keyof T & string) | `${keyof T & string}${'.' | '['}${string}`, reason: string) => void;

/** Returns the `static check` of a dto class, its own or the nearest inherited one. */
export function classCheckOf(Dto: object): ClassCheck | undefined {
  const { check } = Dto as { readonly check?: unknown };
  return typeof check === 'function' ? (dto, fail) => (check as ClassCheck).call(Dto, dto, fail) : undefined;
}

/** Has a nested dto checked when all values are known, if it is valid then, and so are those in it. */
export function checkLater(check: ClassCheck, codec: ObjectCodec, dto: object, at: Location): void {
  const fail = (name: string, reason: string): void => {
    failAt(at, namesBelow(partsOfPath(name), codec, at.isJson), reason);
  };
  at.failures.whenKnown(() => (at.isInvalid ? undefined : check(dto, fail)));
}

/** Reports a failure of the application below a location. */
export function failAt(location: Location, names: readonly (string | number)[], reason: string): void {
  names.reduce<Location>((at, part) => at.below(part), location).fail('application', reason);
}

export const partsOfPath = (path: string): string[] => path.split(/[.[\]]+/).filter(part => part !== '');

/**
 * Translates the parts of a path below a value to the client's names: `items[0].unitPrice` may be `unit_price` in its
 * JSON.
 */
export function namesBelow(path: readonly string[], codec: Codec | undefined, isJson: boolean): (string | number)[] {
  let here = codec;
  return path.map(part => {
    const type = here && notNull(here);
    const members = type ? objectsOf(type).flatMap(one => one.members) : [];
    const member = members.find(({ property }) => property === part);
    here = type?.kind === 'list' || type?.kind === 'record' ? type.item : member?.codec;
    if (member) return isJson ? member.jsonName : member.bindName;
    return type?.kind !== 'record' && /^\d+$/.test(part) ? Number(part) : part;
  });
}
