import { CodecTable } from './plan/codec-table';
import { planFor } from './plan/plan';
import { resolveOptions } from './options';
import type { BindingOptions } from './options';
import type { DtoClass } from './types/property-type';

/**
 * Compiles the code for a dto class, both as the dto of a request and as the type of a property.
 * @throws TypeError that names the property if the class can be used as neither.
 */
export function compileClass(Dto: DtoClass<unknown>, options: BindingOptions): void {
  const resolved = resolveOptions(options);
  const uses: readonly ((codecs: CodecTable) => unknown)[] = [
    codecs => planFor(Dto, codecs, resolved),
    codecs => codecs.complete(Dto),
  ];
  const errors: unknown[] = [];
  for (const prepare of uses) {
    try {
      prepare(new CodecTable(resolved.serializer, resolved.valueParsers));
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === uses.length) throw errors[0];
}
