import { CodecTable } from './plan/codec-table';
import { planFor } from './plan/plan';
import { resolveOptions, type BindingOptions } from './options';
import type { DtoClass } from './types/property-type';

/**
 * Compiles the code for a dto class, as a request has it at its root and as another class has it below.
 * @throws TypeError that names the property if it can be neither.
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
