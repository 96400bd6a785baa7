import { CodecTable } from '../../binding/plan/codec-table';
import { assertType } from '../../binding/types/assert-type';
import type { Codec } from '../../binding/types/codec';
import type { ResolvedOptions } from '../../idempotency/options/resolved-options';
import type { SdkExtensions } from '../options/sdk-generators';
import { bothTexts } from '../schemas/both';
import type { Components } from '../schemas/components';
import type { ParameterValue } from '../values/parameter-values';
import { idempotencyHeader } from './idempotency-header';
import { fittingExample, keyExample, takesUuids } from './key-example';
import { keySchema } from './key-schema';
import { parameterOf } from './parameter';

/** The header of the key as dtos bind it. */
interface KeyInDtos extends ParameterValue {
  /** One for each dto that has the header. */
  readonly codecs: readonly Codec[];
}

/**
 * Describes the header of the key. A dto that has the header, too, says more of its value, but cannot make it optional.
 */
export function keyParameter(
  guard: ResolvedOptions,
  inDtos: KeyInDtos | undefined,
  components: Components,
  extensions: SdkExtensions,
): object {
  const type = typeOf(guard);
  const codecs = [type ?? [], inDtos?.codecs ?? []].flat();
  const header = { ...idempotencyHeader(guard, takesUuids(codecs, guard)), ...extensions.keyHeader };
  const example = keyExample(guard);
  const own = keySchema(guard, type, inDtos ? undefined : example, components.schemasFor('request'));
  const schema = inDtos ? (guard.keyPattern ? bothTexts(inDtos.schema, own) : inDtos.schema) : own;
  const fitting = example && fittingExample(example, schema, codecs, guard);
  const shown = fitting !== undefined && { example: fitting };
  if (!inDtos) return { ...header, schema, ...shown };
  const required = inDtos.required || header.required;
  return { ...header, ...parameterOf({ ...inDtos, required, schema, ...shown }) };
}

function typeOf({ swaggerHeaderType: type }: ResolvedOptions): Codec | undefined {
  if (type === undefined) return undefined;
  assertType(type);
  return new CodecTable({}).complete(type);
}
