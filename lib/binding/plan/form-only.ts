import { hasFile } from '../types/codec';
import type { Plan } from './plan';

/** @throws TypeError for a required property that binds only from a form, if the endpoint accepts no form. */
export function refuseWithoutForm(className: string, { required, sourcesOf }: Plan): void {
  for (const { property, codec } of required) {
    const sources = [...(sourcesOf.get(property)?.keys() ?? [])];
    if (sources.length !== 1 || sources[0] !== 'form') continue;
    const option = hasFile(codec) ? 'allowFormData: true' : 'allowFormData: true or { urlEncoded: true }';
    const mistake = 'it is required and binds only from a form, but the endpoint accepts no form';
    throw new TypeError(
      `bindRequest: ${className}.${property}: ${mistake}; pass { ${option} }, or declare it with required: false.`,
    );
  }
}
