import express, { type Express } from 'express';
import { z } from 'zod';
import { dto, int, list, routeParam, string, type AnyType, type ParseResult } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { bind } from '../../support/one-endpoint';

const [, [, express4 = express]] = expressVersions as [unknown, readonly [string, () => Express]];

class Path {
  constructor(readonly text: string) {}
  static tryParse(text: string | undefined): ParseResult<Path> {
    return { success: true, value: new Path(text ?? '') };
  }
}

describe('a wildcard of Express 5', () => {
  const [route, name] = ['/files/*path', 'path'];
  const reading = async (type: AnyType, path: string): Promise<unknown> => {
    class File extends dto({ at: routeParam(type, { bindFrom: name }) }) {}
    const { status, dto: bound, errors } = await bind(File, { method: 'GET', path: `/files/${path}` }, { route });
    return status === 200 ? bound?.at : errors;
  };

  it.each<[string, AnyType, string, unknown]>([
    ['a string, joined with slashes', string, 'a/b/c.txt', 'a/b/c.txt'],
    ['a string of one segment', string, 'a,b', 'a,b'],
    ['a class with tryParse', Path, 'a/b', new Path('a/b')],
    ['a list of its segments', list(string), 'a/b/c.txt', ['a', 'b', 'c.txt']],
    ['a list of one segment, comma and all', list(string), 'a,b', ['a,b']],
    ['a list of segments in brackets', list(string), '[a]/b', ['[a]', 'b']],
    ['a list of int', list(int), '1/2', [1, 2]],
    ['a scalar', int, '7', 7],
    ['a schema of text', z.string(), 'a/b', 'a/b'],
    ['a schema of text of one segment', z.string(), 'a', 'a'],
    ['a schema of segments', z.array(z.string()), 'a/b', ['a', 'b']],
    ['a schema of one segment', z.array(z.string()), 'a,b', ['a,b']],
  ])('is bound into %s', async (_what, type, path, value) => {
    expect(await reading(type, path)).toEqual(value);
  });

  it('is a failure under its name where it cannot be read', async () => {
    expect(await reading(int, '1/2')).toEqual([
      { name, in: 'route', detail: 'The value "1/2" is not a whole number from -2147483648 to 2147483647.' },
    ]);
    expect(await reading(list(int), '1/x')).toEqual([
      {
        name: `${name}[1]`,
        in: 'route',
        detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.',
      },
    ]);
    expect(await reading(z.literal('x'), 'a/b')).toMatchObject([{ name, in: 'route' }]);
  });
});

it('a wildcard of Express 4 is text, under its number', async () => {
  class File extends dto({ at: routeParam(string, { bindFrom: '0' }) }) {}
  const at = { framework: express4, route: '/files/*' };
  expect((await bind(File, { method: 'GET', path: '/files/a/b' }, at)).dto).toEqual({ at: 'a/b' });
});

it.each(expressVersions)('a group of a regular expression is one text: %s', async (_name, framework) => {
  class Ids extends dto({ ids: routeParam(list(string), { bindFrom: '0' }) }) {}
  expect((await bind(Ids, { path: '/v/a,b/c' }, { framework, route: /^\/v\/(.*)$/ })).dto).toEqual({
    ids: ['a', 'b/c'],
  });
});
