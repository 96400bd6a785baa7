import { dto, fromForm, fromQuery, type AnyType, type ProblemError } from '../../../lib';
import { bind, urlEncoded, type EndpointOptions, type Outcome } from '../../support/one-endpoint';

/** Names and what is sent under them. */
export type Names = readonly (readonly [name: string, value: string])[];

/** What came of the same names in each of the three ways that they can be sent. */
export interface ThreeWays<T> {
  readonly urlencoded: T;
  readonly multipart: T;
  readonly query: T;
}

export type Refusal = Omit<ProblemError, 'in'>;

/** Sends the same names to a property that takes all names: what was bound, or the failures. */
export async function threeWays(
  type: AnyType,
  names: Names,
  options: EndpointOptions = {},
): Promise<ThreeWays<unknown>> {
  const Form = dto({ all: fromForm(type) });
  const Query = dto({ all: fromQuery(type) });
  const came = ({ status, dto: bound, problem, errors }: Outcome<{ all: unknown }>): unknown =>
    bound ? bound.all : problem?.errors ? errors : status;
  return {
    urlencoded: came(await bind(Form, { form: names }, { ...urlEncoded, ...options })),
    multipart: came(await bind(Form, { multipart: names }, { ...urlEncoded, ...options })),
    query: came(
      await bind(
        Query,
        { method: 'GET', path: `/?${new URLSearchParams(names.map(([name, value]) => [name, value])).toString()}` },
        options,
      ),
    ),
  };
}

/** The same value in all three ways. */
export const all = <T>(value: T): ThreeWays<T> => ({ urlencoded: value, multipart: value, query: value });

/** The same failures in all three ways, each in its source. */
export function refused(...failures: readonly Refusal[]): ThreeWays<unknown> {
  const inSource = (source: ProblemError['in']): ProblemError[] =>
    failures.map(failure => ({ ...failure, in: source }));
  return { urlencoded: inSource('form'), multipart: inSource('form'), query: inSource('query') };
}
