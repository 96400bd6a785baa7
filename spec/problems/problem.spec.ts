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
    new TypeError(
      `Problem: there is no code ${shown}; there are: ${Object.keys(catalogue).join(', ')}; one of your own needs a status`,
    ),
  );
});

it('a Problem of a code of the application has the status that it is given, and the title of that or its own', () => {
  const detail = 'Only 3 are left.';
  expect(new Problem('out-of-stock', detail, { status: 409 }).toBody()).toEqual({
    type: 'urn:bindonce:out-of-stock',
    title: 'Conflict',
    status: 409,
    detail,
  });
  const titled = new Problem('out-of-stock', detail, { status: 499, title: 'Out of stock' });
  expect(titled).toMatchObject({ title: 'Out of stock', status: 499, statusCode: 499, code: 'out-of-stock' });
  expect(new Problem('x', detail, { status: 499 }).title).toBe('Error');
});

it.each<[string, unknown, string]>([
  ['key-missing', 409, 'the code "key-missing" has the status 400; take one of your own'],
  ...[200, 399, 600, 404.5, '404', null].map((status): [string, unknown, string] => [
    'x',
    status,
    `status must be a whole number from 400 to 599, not ${JSON.stringify(status)}`,
  ]),
])('a Problem of %s with the status %p is refused', (code, status, message) => {
  expect(() => new Problem(code, 'No.', { status: status as number })).toThrow(new TypeError(`Problem: ${message}`));
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
