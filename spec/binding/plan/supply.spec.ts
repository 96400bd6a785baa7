import { z } from 'zod';
import {
  bindRequest,
  dto,
  field,
  file,
  formField,
  fromBody,
  fromClaim,
  fromForm,
  fromQuery,
  int,
  lazy,
  list,
  nullable,
  optional,
  plainText,
  queryParam,
  string,
  valueParserFor,
  type AnyType,
  type BindingOptions,
  type JsonConverter,
  type ParseResult,
} from '../../../lib';
import { bind } from '../../support/one-endpoint';

const allowFormData = { urlEncoded: true } as const;

class Line extends dto({ sku: string }) {}
class Photo extends dto({ image: file }) {}
class Loose extends dto({ note: optional(string), tags: list(string), photos: list(file) }) {}
class NoJson extends dto({ sku: field(string, { dontBind: ['json'] }) }) {}
class NoForm extends dto({ sku: field(string, { dontBind: ['form'] }) }) {}
class NoQuery extends dto({ sku: field(string, { dontBind: ['query'] }), next: optional(Line) }) {}
class Around extends dto({ line: NoQuery }) {}
class Nowhere extends dto({
  a: field(int, { dontBind: ['json'] }),
  b: field(int, { dontBind: ['form', 'route', 'query'] }),
}) {}
class Endless extends dto({ next: lazy((): AnyType => Endless) }) {}
class Chicken extends dto({ from: lazy((): AnyType => Egg), name: string }) {}
class Egg extends dto({ from: Chicken }) {}
class Money {
  constructor(readonly cents: number) {}
}
const money = valueParserFor(Money, (input): ParseResult<Money> => ({
  success: true,
  value: new Money(Number(input)),
}));
const jsonOnly = { dontBind: ['form', 'route', 'query'] } as const;

describe('a dto that requires JSON and a form, of which a request has one, is refused:', () => {
  it.each<[string, () => AnyType, string, string]>([
    ['fromBody and formField', () => dto({ json: fromBody(Line), form: formField(string) }), 'fromBody', 'formField'],
    ['fromBody and a file', () => dto({ form: file, json: fromBody(Line) }), 'fromBody', 'field'],
    ['fromBody and files', () => dto({ form: list(file), json: fromBody(list(Line)) }), 'fromBody', 'field'],
    ['fromBody and fromForm', () => dto({ json: fromBody(Line), form: fromForm(Line) }), 'fromBody', 'fromForm'],
    ['fromBody and files below', () => dto({ json: fromBody(Line), form: fromForm(Photo) }), 'fromBody', 'fromForm'],
    [
      'fromBody and a schema',
      () => dto({ json: fromBody(z.object({})), form: formField(z.string()) }),
      'fromBody',
      'formField',
    ],
    [
      'JSON alone and a form alone',
      () => dto({ json: field(int, jsonOnly), form: formField(int) }),
      'field',
      'formField',
    ],
  ])('%s', (_what, declare, json, form) => {
    const refused =
      `bindRequest: Dto.json (${json}) requires a JSON body, and Dto.form (${form}) a form, but a request has one ` +
      'body. Declare Dto.json as optional(…), or declare Dto.form as optional(…), or read both from one kind of body.';
    expect(() => bindRequest(declare(), { allowFormData })).toThrow(refused);
    expect(() => bindRequest(declare())).toThrow(refused);
  });

  it.each<[string, () => AnyType, string]>([
    [
      'jsonRequired and formField',
      () => dto({ v: field(int, { jsonRequired: true }), form: formField(int) }),
      'formField',
    ],
    [
      'jsonRequired of an optional value, and fromForm',
      () => dto({ v: field(optional(int), { jsonRequired: true }), form: fromForm(Line) }),
      'fromForm',
    ],
  ])('%s', (_what, declare, form) => {
    expect(() => bindRequest(declare(), { allowFormData })).toThrow(
      `bindRequest: Dto.v (jsonRequired) requires a JSON body, and Dto.form (${form}) a form, but a request has one ` +
        'body. Remove jsonRequired from Dto.v, or declare Dto.form as optional(…), or read both from one kind of body.',
    );
  });

  it('decorated properties, by the name of their class', () => {
    class Upload {
      @fromBody(Line) line!: Line;
      @formField(string) title!: string;
    }
    expect(() => bindRequest(Upload)).toThrow(/Upload\.line \(fromBody\) .* Upload\.title \(formField\)/);
  });
});

describe('a dto that a request of one kind can fill is accepted:', () => {
  const line = { sku: 'tea' };
  it.each<[string, AnyType, Parameters<typeof bind>[1], object]>([
    [
      'JSON beside an optional field',
      dto({ a: fromBody(Line), b: formField(optional(int)) }),
      { json: line },
      { a: line },
    ],
    ['JSON beside optional files', dto({ a: fromBody(Line), b: optional(list(file)) }), { json: line }, { a: line }],
    ['a form beside optional JSON', dto({ a: fromBody(optional(Line)), b: formField(int) }), { form: 'b=1' }, { b: 1 }],
    [
      'JSON beside a form that needs no field',
      dto({ a: fromBody(Line), b: fromForm(Loose) }),
      { json: line },
      { a: line, b: { tags: [], photos: [] } },
    ],
    [
      'JSON beside a schema that may be missing',
      dto({ a: fromBody(Line), b: formField(z.string().default('x')) }),
      { json: line },
      { a: line, b: 'x' },
    ],
    [
      'JSON beside a field that the query has',
      dto({ a: field(int, { jsonRequired: true }), b: field(int, { dontBind: ['json'] }) }),
      { json: { a: 1 }, path: '/?b=2' },
      { a: 1, b: 2 },
    ],
    ['text that is a form', dto({ a: plainText(), b: formField(int) }), { form: 'b=1' }, { a: 'b=1', b: 1 }],
  ])('%s', async (_what, Dto, sent, expected) => {
    const { status, dto: bound } = await bind(Dto, sent, { allowFormData });
    expect([status, bound]).toEqual([200, expected]);
  });
});

describe('a required property that no source can supply is refused:', () => {
  const both: BindingOptions = { allowFormData, valueParsers: [money] };
  it.each<[string, () => AnyType, string]>([
    ['fromBody', () => dto({ v: fromBody(NoJson) }), 'NoJson.sku does not bind from json.'],
    ['jsonRequired', () => dto({ v: field(NoJson, { jsonRequired: true }) }), 'NoJson.sku does not bind from json.'],
    ['fromForm', () => dto({ v: fromForm(NoForm) }), 'NoForm.sku does not bind from form.'],
    ['fromQuery', () => dto({ v: fromQuery(NoQuery) }), 'NoQuery.sku does not bind from query.'],
    ['queryParam, deeper down', () => dto({ v: queryParam(Around) }), 'NoQuery.sku does not bind from query.'],
    [
      'fromClaim',
      () => dto({ v: fromClaim(dto({ a: field(int, { dontBind: ['claim'] }) })) }),
      'Dto.a does not bind from claim.',
    ],
    [
      'field',
      () => dto({ v: Nowhere }),
      'Nowhere.a does not bind from json, Nowhere.b does not bind from form, Nowhere.b does not bind from route, ' +
        'Nowhere.b does not bind from query.',
    ],
    ['a class that requires itself', () => dto({ v: Endless }), 'Endless requires another Endless, without end.'],
    ['classes that require each other', () => dto({ v: Egg }), 'Egg requires another Egg, without end.'],
    [
      'fromBody of what only a value parser reads',
      () => dto({ v: fromBody(Money) }),
      'a value parser reads Money from text, and the JSON body needs a converter (option converters).',
    ],
  ])('%s', (_what, declare, reason) => {
    expect(() => bindRequest(declare(), both)).toThrow(
      `bindRequest: Dto.v: it is required, but no source can supply it: ${reason}`,
    );
  });

  const converter: JsonConverter<NoJson> = {
    type: NoJson,
    read: () => ({ success: true, value: new NoJson() }),
    write: () => null,
  };
  class Code extends dto({ text: field(string, { dontBind: ['json', 'query'] }) }) {
    static tryParse(): ParseResult<Code> {
      return { success: true, value: new Code() };
    }
  }
  it.each<[string, AnyType, BindingOptions]>([
    ['one source', dto({ v: NoJson }), {}],
    ['a value that may be missing', dto({ v: optional(Nowhere) }), {}],
    ['null', dto({ v: fromBody(nullable(NoJson)) }), {}],
    ['null, within', dto({ v: class Node extends dto({ next: nullable(lazy((): AnyType => Node)) }) {} }), {}],
    ['an empty list of itself', dto({ v: class Node extends dto({ all: list(lazy((): AnyType => Node)) }) {} }), {}],
    [
      'a class that another one, which may be missing, requires',
      dto({
        v: class Hen extends dto({ egg: optional(lazy((): AnyType => dto({ hen: lazy((): AnyType => Hen) }))) }) {},
      }),
      {},
    ],
    ['an empty list', dto({ v: fromBody(list(NoJson)), w: queryParam(list(NoQuery)) }), {}],
    ['an empty list of what only a value parser reads', dto({ v: fromBody(list(Money)) }), {}],
    ['a converter', dto({ v: fromBody(NoJson) }), { converters: [converter] }],
    [
      'a value parser',
      dto({ v: queryParam(NoQuery) }),
      { valueParsers: [valueParserFor(NoQuery, () => ({ success: false }))] },
    ],
    ['text', dto({ v: fromBody(Code), w: queryParam(Code) }), {}],
  ])('but %s supplies it', (_what, Dto, options) => {
    expect(() => bindRequest(Dto, { ...both, ...options })).not.toThrow();
  });
});
