import { bool, dto, fromHeader, optional, queryParam, string } from '../../../lib';
import { bind } from '../../support/one-endpoint';

class Switch extends dto({ on: bool }) {}
class Text extends dto({ text: string }) {}

describe('bool', () => {
  it.each([
    ['true', true],
    ['false', false],
    ['TRUE', true],
    ['False', false],
    ['%20true%20', true],
  ])('reads ?on=%s', async (text, value) => {
    const { dto: bound } = await bind(Switch, { method: 'GET', path: `/?on=${text}` });
    expect(bound?.on).toBe(value);
  });

  it.each(['1', '0', 'yes', 'no', 'on', 'off', 't', '', 'null', 'true,false'])('refuses ?on=%s', async text => {
    const { status, errors } = await bind(Switch, { method: 'GET', path: `/?on=${text}` });
    expect({ status, errors }).toEqual({
      status: 400,
      errors: [{ name: 'on', in: 'query', detail: `The value "${text}" is not true or false.` }],
    });
  });

  it.each([
    [true, 200],
    [false, 200],
    ['true', 400],
    [1, 400],
    [0, 400],
    [null, 400],
    [[], 400],
    [{}, 400],
  ])('%j in JSON is answered with %i', async (on, expected) => {
    const { status, dto: bound } = await bind(Switch, { json: { on } });
    expect([status, bound?.on]).toEqual([expected, expected === 200 ? on : undefined]);
  });
});

describe('string', () => {
  it.each([
    ['', ''],
    ['%20a%20', ' a '],
    ['a,b', 'a,b'],
    ['%5B1%5D', '[1]'],
    ['%00', '\0'],
    ['caf%C3%A9', 'café'],
    ['a+b', 'a b'],
    ['null', 'null'],
  ])('takes ?text=%s as it is', async (sent, value) => {
    const { dto: bound } = await bind(Text, { method: 'GET', path: `/?text=${sent}` });
    expect(bound?.text).toBe(value);
  });

  it('joins what is sent more than once', async () => {
    class Texts extends dto({ q: queryParam(string), h: fromHeader(string, { name: 'X-Text' }) }) {}
    const { dto: bound } = await bind(Texts, { path: '/?q=a&q=b,c', headers: { 'X-Text': ['d', 'e'] } });
    expect(bound).toEqual({ q: 'a,b,c', h: 'd,e' });
  });

  it.each([
    ['text', 200],
    ['', 200],
    [1, 400],
    [true, 400],
    [null, 400],
    [['a'], 400],
    [{}, 400],
  ])('%j in JSON is answered with %i', async (text, expected) => {
    expect((await bind(Text, { json: { text } })).status).toBe(expected);
  });
});

describe('any scalar', () => {
  it('refuses a value that is sent twice', async () => {
    const { errors } = await bind(Switch, { method: 'GET', path: '/?on=true&on=true' });
    expect(errors).toEqual([{ name: 'on', in: 'query', detail: 'There are 2 values where one is expected.' }]);
  });

  it('is not bound to a list spelling of its name', async () => {
    class MaybeOn extends dto({ on: optional(bool) }) {}
    expect((await bind(MaybeOn, { method: 'GET', path: '/?on[]=true&on[0]=true' })).dto).toEqual({});
  });

  it.each([
    '{"toString":1}',
    '{"toString":null,"valueOf":null}',
    '{"toJSON":1}',
    '{"constructor":1}',
    '[{"toString":1}]',
  ])('refuses %s like any other object or array', async json => {
    const { status, errors } = await bind(Switch, { json: `{"on":${json}}` });
    expect({ status, errors }).toMatchObject({ status: 400, errors: [{ name: 'on', in: 'json' }] });
  });
});
