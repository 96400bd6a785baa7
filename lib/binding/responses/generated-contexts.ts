import type { GeneratedContexts, SerializerOptions } from '../types/serializer-options';

/** Adds the generated contexts of a project to options: `configure({ binding: registerContexts({ … }) })`. */
export type RegisterContexts = <O extends SerializerOptions = SerializerOptions>(
  options?: O,
) => O & Required<Pick<SerializerOptions, 'contexts'>>;

/** Makes the function that registers contexts. The modules that `npx bindonce generate` writes call it. */
export function generatedContexts(contexts: GeneratedContexts): RegisterContexts {
  return <O extends SerializerOptions>(options?: O) =>
    Object.assign({}, options, { contexts: [...(options?.contexts ?? []), ...contexts] });
}
