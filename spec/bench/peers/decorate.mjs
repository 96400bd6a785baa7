/**
 * Decorators are functions: called by hand, they need no compiler. The types that TypeScript would emit for them (as
 * `design:type` and `design:paramtypes`) are declared here as well.
 */
import 'reflect-metadata';

/** @param properties for each name its type, then its decorators */
export function declareProperties(target, properties) {
  for (const [name, [type, ...decorators]] of Object.entries(properties)) {
    Reflect.defineMetadata('design:type', type, target.prototype, name);
    for (const decorator of decorators) decorator(target.prototype, name);
  }
  return target;
}

/** @param parameters for each parameter its type and its decorator */
export function declareMethod({ prototype }, name, decorators, parameters) {
  const types = parameters.map(([type]) => type);
  Reflect.defineMetadata('design:paramtypes', types, prototype, name);
  for (const [index, [, decorator]] of parameters.entries()) decorator(prototype, name, index);
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
  for (const decorator of decorators) decorator(prototype, name, descriptor);
}
