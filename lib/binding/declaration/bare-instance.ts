import { oneInProcess } from '../../basics/one-in-process';
import type { DtoClass } from '../types/property-type';

/** The prototype of the instance that is made now. One for all copies of this module: each knows the other's dtos. */
const current = oneInProcess<{ prototype?: unknown }>('bare-instance', () => ({}));

/**
 * Makes an instance of a dto class without the defaults that functions make: those are for requests in which no source
 * has the value. Other instances, even if they are made meanwhile, have them.
 */
export function bareInstance<T>(Dto: DtoClass<T>): T {
  const { prototype } = current;
  current.prototype = Dto.prototype;
  try {
    return new Dto();
  } finally {
    current.prototype = prototype;
  }
}

/** Returns true for an instance that `bareInstance` is making. */
export const isBare = (instance: object): boolean => Object.getPrototypeOf(instance) === current.prototype;
