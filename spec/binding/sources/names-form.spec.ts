import { bool, dto, field, formField, int, optional, string } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Signup extends dto({
  email: formField(string, { bindFrom: 'e-mail' }),
  age: int,
  news: field(bool, { default: false }),
  note: optional(string),
}) {}

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
