import { CodecTable } from './plan/codec-table';
import { planFor } from './plan/plan';
import { resolveOptions, type BindingOptions } from './options';
import type { DtoClass } from './types/property-type';

/**
 * Compiles the code for a dto class, both as the dto of a request and as the type of a property.
 * @throws TypeError that names the property if the class can be used as neither.
 */
export function compileClass(Dto: DtoClass<unknown>, options: BindingOptions): void {
  const { serializer, valueParsers } = resolveOptions(options).settings;
  const errors: unknown[] = [];
  for (const compile of [planFor, (_Dto: typeof Dto, codecs: CodecTable) => codecs.complete(Dto)]) {
    try {
      compile(Dto, new CodecTable(serializer, valueParsers));
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw errors[0];
}
