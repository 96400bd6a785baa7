import type { Endpoint } from '../../binding/endpoint';
import { hasFile, isCollection, someWithin, type Codec } from '../../binding/types/codec';
import type { ResolvedOptions } from '../../idempotency/options/resolved-options';
import { inLargestUnit, type Unit } from '../values/largest-unit';

/**
 * Describes the limits of a request body, which OpenAPI has no fields for. Of several endpoints that read the body, and
 * of `idempotency()` in front of them, the strictest limit counts.
 * @param types the media types that the body may have.
 */
export function bodyLimits(
  types: readonly string[],
  all: readonly Endpoint[],
  guard: ResolvedOptions | undefined,
): string {
  const endpoints = all.filter(({ plan }) => plan && (plan.body.json || plan.body.form || plan.body.text));
  const options = endpoints.map(({ options }) => options);
  const least = (...values: readonly number[]): number =>
    Math.min(...values, ...(guard && !guard.ignoreRequestBody ? [guard.maxRequestBytes] : []));
  const limits = options.map(one => one.limits);
  const bytes = least(...limits.map(({ bodyBytes }) => bodyBytes));
  const form = least(...options.map(({ formBytes }) => formBytes));
  const files = Math.min(...limits.map(one => one.files));
  const ofFile = least(...limits.map(({ fileBytes }) => fileBytes));
  const codecs = endpoints.flatMap(({ plan }) => [
    ...(plan?.wholeBody ? [plan.wholeBody.member.codec] : []),
    ...(plan?.required ?? []).map(({ codec }) => codec),
    ...[...(plan?.sourceProperties.values() ?? [])].flat().map(({ codec }) => codec),
  ]);
  const has = (test: (codec: Codec) => boolean): boolean => codecs.some(codec => someWithin(codec, test));
  const fileParts = codecs.some(hasFile) ? ` and ${files} files of ${sizeOf(ofFile)}` : '';
  const isForm = types.includes('multipart/form-data');
  return [
    types.some(type => type !== 'multipart/form-data') && `A body has at most ${sizeOf(bytes)}.`,
    isForm && `A multipart form has at most ${sizeOf(form)}, with ${sizeOf(bytes)} of fields${fileParts}.`,
    has(one => one.kind === 'object' && one.members.some(({ codec }) => isCollection(codec))) &&
      `A list has at most ${Math.min(...limits.map(({ items }) => items))} items.`,
  ]
    .filter(Boolean)
    .join(' ');
}

const LARGER_UNITS: readonly Unit[] = [
  [1_073_741_824, 'GiB', 'GiB'],
  [1_048_576, 'MiB', 'MiB'],
  [1_024, 'KiB', 'KiB'],
];

const sizeOf = (bytes: number): string => inLargestUnit(bytes, [1, 'byte', 'bytes'], LARGER_UNITS);
