import { dto, int, Problem, type ProblemCode } from '../../lib';
import { catalogue } from '../../lib/problems/catalogue';
import { bind } from '../support/one-endpoint';

it.each(Object.entries(catalogue))(
  'a Problem of %s has what http-errors gives its errors',
  (code, { status, title }) => {
    expect([code, status, title]).toEqual([
      expect.stringMatching(/^[a-z]+(-[a-z]+)*$/),
      expect.any(Number),
      expect.stringMatching(/^[A-Z].*[^.]$/),
    ]);
    const problem = new Problem(code as ProblemCode, 'What happened.');
    expect(problem).toBeInstanceOf(Error);
    expect(problem).toMatchObject({
      name: 'Problem',
      message: 'What happened.',
      code,
      status,
      statusCode: status,
      title,
      expose: true,
      headers: {},
    });
  },
);

it.each<[unknown, string]>([
  ['x', '"x"'],
  ['toString', '"toString"'],
  [404, '404'],
  [undefined, 'undefined'],
])('a Problem of a code that there is not is refused: %p', (code, shown) => {
  expect(() => new Problem(code as ProblemCode, 'What happened.')).toThrow(
    new TypeError(`Problem: there is no code ${shown}; there are: ${Object.keys(catalogue).join(', ')}`),
  );
});

it('its body is that of RFC 9457, without empty members', () => {
  expect(new Problem('unauthenticated', 'No.').toBody()).toEqual({
    type: 'urn:bindonce:unauthenticated',
    title: 'Authentication is required',
    status: 401,
    detail: 'No.',
  });
  const errors = [{ name: 'a', in: 'query', detail: 'x' }] as const;
  expect(
    new Problem('validation-failed', 'No.', {
      errors,
      headers: { 'Retry-After': '1' },
      cause: new Error('secret'),
    }).toBody('/orders'),
  ).toEqual({
    type: 'urn:bindonce:validation-failed',
    title: 'One or more values are not valid',
    status: 400,
    detail: 'No.',
    instance: '/orders',
    errors,
  });
});

it('its cause is kept for logs', () => {
  const cause = new Error('inner');
  expect(new Problem('body-malformed', 'No.', { cause }).cause).toBe(cause);
  expect('cause' in new Problem('body-malformed', 'No.')).toBe(false);
});

it.each([
  ['/orders/7?token=secret', '/orders/7'],
  ['/a%20b', '/a%20b'],
  ['/?', '/'],
])('instance is the path of the request, without its query: %s', async (path, instance) => {
  class One extends dto({ v: int }) {}
  expect((await bind(One, { path }, { route: /.*/ })).problem?.instance).toBe(instance);
});
