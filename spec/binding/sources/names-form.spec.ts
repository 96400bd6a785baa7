import { bool, dto, field, formField, int, optional, string } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Signup extends dto({
  email: formField(string, { bindFrom: 'e-mail' }),
  age: int,
  news: field(bool, { default: false }),
  note: optional(string),
}) {}
const FIELDS = [
  ['e-mail', 'a@example.org'],
  ['AGE', '42'],
  ['news', 'true'],
] as const;
const BOUND = { email: 'a@example.org', age: 42, news: true };

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each<[string, Sent]>([
    ['multipart', { multipart: FIELDS }],
    ['urlencoded', { form: FIELDS }],
  ])('binds a %s form: names in any case, bindFrom instead of the name', async (_kind, sent) => {
    expect((await bind(Signup, sent, { framework, ...urlEncoded })).dto).toEqual(BOUND);
  });
});

it.each<[string, EndpointAnswer]>([
  ['nothing', { options: {}, multipart: 415, urlencoded: 415 }],
  ['false', { options: { allowFormData: false }, multipart: 415, urlencoded: 415 }],
  ['true', { options: { allowFormData: true }, multipart: 200, urlencoded: 415 }],
  ['{ urlEncoded: true }', { options: urlEncoded, multipart: 200, urlencoded: 200 }],
])('allowFormData %s decides which forms are accepted', async (_what, { options, multipart, urlencoded }) => {
  // A property that only a form can bring, and must, would be refused when the middleware is made.
  class Loose extends dto({ email: formField(string, { bindFrom: 'e-mail', required: false }), age: int }) {}
  expect((await bind(Loose, { multipart: FIELDS }, options)).status).toBe(multipart);
  expect((await bind(Loose, { form: FIELDS }, options)).status).toBe(urlencoded);
});

interface EndpointAnswer {
  options: { allowFormData?: boolean | { urlEncoded: true } };
  multipart: number;
  urlencoded: number;
}

it('a formField binds from a form and from nothing else', async () => {
  class One extends dto({ v: formField(int, { default: 0 }), w: optional(int) }) {}
  expect((await bind(One, { path: '/1?v=2', json: { v: 3 } }, { route: '/:v' })).dto).toEqual({ v: 0 });
  expect((await bind(One, { path: '/1?v=2', form: [['v', '4']] }, { route: '/:v', ...urlEncoded })).dto).toEqual({
    v: 4,
  });
});

it.each<[string, Sent]>([
  [
    'a form',
    {
      form: [
        ['e-mail', 'a'],
        ['age', 'x'],
      ],
    },
  ],
  [
    'a multipart form',
    {
      multipart: [
        ['e-mail', 'a'],
        ['age', 'x'],
      ],
    },
  ],
])('failures of %s are reported under the name of the field', async (_kind, sent) => {
  expect((await bind(Signup, sent, urlEncoded)).errors).toEqual([
    { name: 'age', in: 'form', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
  ]);
});

it('missing fields of a form are reported in the form, under the name that is looked for', async () => {
  expect((await bind(Signup, { form: '' + 'news=false' }, urlEncoded)).errors).toEqual([
    { name: 'e-mail', in: 'form', detail: 'A value is required.' },
    { name: 'age', in: 'form', detail: 'A value is required.' },
  ]);
});

it.each<[string, Sent]>([
  [
    'urlencoded',
    {
      form: [
        ['e-mail', 'é%+& =\n'],
        ['age', '1'],
      ],
    },
  ],
  [
    'multipart',
    {
      multipart: [
        ['e-mail', 'é%+& =\n'],
        ['age', '1'],
      ],
    },
  ],
])('text arrives as it was typed: %s', async (_kind, sent) => {
  expect((await bind(Signup, sent, urlEncoded)).dto?.email.replace('\r\n', '\n')).toBe('é%+& =\n');
});

it('a form and JSON bind the same dto', async () => {
  class Both extends dto({ age: int, note: optional(string) }) {}
  expect((await bind(Both, { json: { age: 1 } }, urlEncoded)).dto).toEqual({ age: 1 });
  expect((await bind(Both, { form: [['age', '1']] }, urlEncoded)).dto).toEqual({ age: 1 });
});
