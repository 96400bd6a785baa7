import { dto, fromForm, fromQuery, type AnyType } from '../../../lib';
import { pairs } from '../../support/ask';
import { outcome, type EndpointOptions } from '../../support/one-endpoint';

/** What was bound to the one property, or its failures without their source. */
function came(result: unknown): unknown {
  if (Array.isArray(result)) return result.map((failure: string) => failure.replace(/^\w+ /, ''));
  return typeof result === 'object' && result !== null ? Object.values(result)[0] : result;
}

/** Encodes the names and values of `a=1&b=2`. */
export const encoded = (text: string): string =>
  new URLSearchParams(pairs(text).map(([name, value]) => [name, value])).toString();

/** What a type that takes all names reads from them in each form and in a query: always the same. */
export async function threeWays(type: AnyType, text: string, options?: EndpointOptions): Promise<unknown> {
  const form = came(await outcome(dto({ all: fromForm(type) }), { form: pairs(text) }, options));
  expect(came(await outcome(dto({ all: fromForm(type) }), { multipart: pairs(text) }, options))).toEqual(form);
  const query = { method: 'GET', path: `/?${encoded(text)}` };
  expect(came(await outcome(dto({ all: fromQuery(type) }), query, options))).toEqual(form);
  return form;
}

/** The same of names below the name `v`, and of `v` itself. */
export async function below(type: AnyType, text: string, options?: EndpointOptions): Promise<unknown> {
  const Dto = dto({ v: type });
  const form = came(await outcome(Dto, { form: pairs(text) }, options));
  expect(came(await outcome(Dto, { multipart: pairs(text) }, options))).toEqual(form);
  const query = came(await outcome(Dto, { method: 'GET', path: `/?${encoded(text)}` }, options));
  const worded = (result: unknown): unknown =>
    Array.isArray(result) ? result.map(one => String(one).replace('This query parameter is', 'A value is')) : result;
  expect(worded(query)).toEqual(worded(form));
  return form;
}
