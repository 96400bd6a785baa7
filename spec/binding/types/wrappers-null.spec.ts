import express from 'express';
import { bindRequest, dto, field, fromBody, int, list, nullable, optional, string, type AnyType } from '../../../lib';
import { ask, problemIn } from '../../support/ask';

const refusing = { null: 'refuse' } as const;
const Patch = dto({
  title: optional(string, refusing),
  tags: field(optional(list(int), refusing)),
  note: optional(string),
});

it.each<[string, AnyType, unknown, unknown]>([
  [
    'null is refused',
    Patch,
    { title: null, tags: null, note: null },
    ['The value null is not a string.', 'The value null is not a JSON array.'],
  ],
  ['what is missing is missing', Patch, {}, {}],
  ['in a nested dto', dto({ patch: Patch }), { patch: { title: null } }, ['The value null is not a string.']],
  ['of a whole body', optional(list(int), refusing), 'null', ['The value null is not a JSON array.']],
  [
    'of a property that takes the body',
    dto({ ids: fromBody(optional(list(int), refusing)) }),
    'null',
    ['The value null is not a JSON array.'],
  ],
  ['a nullable value may be null', dto({ a: optional(nullable(int), refusing) }), { a: null }, { a: null }],
])('optional(type, { null: "refuse" }): %s', async (_case, Dto, json, expected) => {
  const app = express();
  app.post('/', bindRequest(Dto), (req, res) => {
    res.json(req.dto);
  });
  const response = await ask(app, { json });
  const errors = problemIn(response)?.errors;
  expect(errors?.map(({ detail }) => detail) ?? (JSON.parse(response.text) as object)).toEqual(expected);
});

it('another option is an error', () => {
  expect(() => optional(int, { null: 'accept' as 'refuse' })).toThrow('optional: null must be "refuse"');
});
