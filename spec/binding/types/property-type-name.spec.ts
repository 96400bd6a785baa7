import { bindRequest, dto, int, list, queryParam, type AnyType } from '../../../lib';
import { operationOf } from '../../support/described';
import { bind } from '../../support/one-endpoint';

/** A class may have a static method, or a value, of this name. */
const named = (value: unknown): ReturnType<typeof dto> & (new () => object) => {
  class Line extends dto({ a: int }) {}
  return Object.defineProperty(Line, 'name', { value }) as never;
};

describe.each<[string, unknown]>([
  ['a method', () => 'Line'],
  ['a number', 7],
  ['nothing', undefined],
])('a class whose static property `name` is %s', (_what, value) => {
  const Line = named(value);

  it('is read and written like a class without a name', async () => {
    expect((await bind(Line as AnyType, { json: { a: 1 } })).dto).toEqual({ a: 1 });
    expect((await bind(dto({ lines: list(Line as AnyType) }), { json: { lines: [{ a: 1 }] } })).dto).toEqual({
      lines: [{ a: 1 }],
    });
  });

  it('is described like a class without a name', async () => {
    const { schemas } = await operationOf(dto({ line: Line as AnyType }));
    expect(schemas).toMatchObject({ Dto: { properties: { a: { type: 'integer' } } } });
  });

  it('is left out of the errors about its declaration', () => {
    class Parsed {
      static tryParse = () => ({ success: false }) as const;
    }
    Object.defineProperty(Parsed, 'name', { value });
    class Other {}
    Object.defineProperty(Other, 'name', { value });
    expect(() => bindRequest(dto({ v: queryParam(Parsed as AnyType) }))).not.toThrow();
    expect(() => bindRequest(dto({ v: queryParam(Other as AnyType) }))).toThrow('value has no declared properties');
  });
});
