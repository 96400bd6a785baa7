import type { ResolvedOptions } from '../../idempotency/options/options';
import type { SdkExtensions } from '../options/sdk-generators';
import { bothTexts } from '../schemas/both';
import type { Components } from '../schemas/components';
import type { ParameterValue } from '../values/parameter-values';
import { idempotencyHeader } from './idempotency-header';
import { parameterOf } from './parameter';

/**
 * Describes the header of the key. A dto that has the header, too, says more of its value, but cannot make it optional.
 */
export function keyParameter(
  guard: ResolvedOptions,
  inDto: ParameterValue | undefined,
  components: Components,
  extensions: SdkExtensions,
): object {
  const header = { ...idempotencyHeader(guard, components.schemasFor('request')), ...extensions.keyHeader };
  if (!inDto) return header;
  const { schema, ...rest } = header;
  return {
    ...rest,
    ...parameterOf({
      ...inDto,
      required: inDto.required || header.required,
      schema: guard.keyPattern ? bothTexts(inDto.schema, schema) : inDto.schema,
    }),
  };
}
