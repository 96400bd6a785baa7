import { checkOptions, oneOf } from '../../options/check';
import type { CodeFunction } from '../reading/compile';
import type { SerializerOptions } from './serializer-options';

/** How generated contexts are registered. */
export interface RegistrationOptions {
  /**
   * The treatment of a class that has changed since they were generated: `'warn'` compiles its code when it is first
   * used, with one process warning at start-up; `'throw'` throws when the middleware is made. Default `'warn'`.
   */
  whenStale?: 'warn' | 'throw';
}

/** Adds the generated contexts of a project to options: `configure({ binding: registerContexts({ … }) })`. */
export type RegisterContexts = <O extends SerializerOptions = SerializerOptions>(
  options?: O,
  registration?: RegistrationOptions,
) => O & Required<Pick<SerializerOptions, 'contexts'>>;

/**
 * Makes the function that registers generated contexts. Only the modules that `npx bindonce generate` writes call it.
 * @param functions the functions that read and write JSON, by the fingerprints of their code.
 */
export function generatedContexts(functions: Readonly<Record<string, CodeFunction>>): RegisterContexts {
  return <O extends SerializerOptions>(options?: O, registration: RegistrationOptions = {}) => {
    checkOptions('registerContexts', registration, { whenStale: oneOf('warn', 'throw') });
    const { whenStale = 'warn' } = registration;
    const contexts = [...(options?.contexts ?? []), { functions, whenStale }];
    return Object.assign({}, options, { contexts });
  };
}
