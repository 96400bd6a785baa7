import { namingErrors } from '../../binding/declaration/declaration-error';
import type { OperationOptions } from '../../binding/operation-options';
import { exampleJson } from '../schemas/example-json';

type Examples = NonNullable<OperationOptions['examples']>;

/**
 * Returns the examples of a body as the document holds them.
 * @throws TypeError that names one for which JSON has no form.
 */
export function bodyExamples(examples: Examples): object {
  return Object.fromEntries(
    Object.entries(examples).map(([name, example]) => [
      name,
      { ...example, value: namingErrors(`the example ${JSON.stringify(name)}`, () => exampleJson(example.value)) },
    ]),
  );
}
