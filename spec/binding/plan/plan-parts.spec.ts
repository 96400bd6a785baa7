import express from 'express';
import { Keyv } from 'keyv';
import multer from 'multer';
import { dto, file, fromForm, idempotency, int, list, string, type BindingOptions } from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

/** Generated clients send an object in a form as a Blob, which is a file of JSON to whoever reads the form. */

class Line extends dto({ sku: string, quantity: int }) {}
class Order extends dto({ title: string, line: Line, more: list(Line), photo: file }) {}
class Whole extends dto({ order: fromForm(Order) }) {}

const json = (value: unknown, type = 'application/json'): File => new File([JSON.stringify(value)], 'blob', { type });
const forms: BindingOptions = { allowFormData: true };
const LINE = { sku: 'tea', quantity: 2 };
const sent: Sent = {
  multipart: [
    ['title', 't'],
    ['line', json(LINE)],
    ['more', json([LINE, LINE], 'application/problem+json')],
    ['photo', json({ not: 'JSON here' })],
  ],
};

it.each([
  ['flat', Order],
  ['whole', Whole],
])('a JSON part is read as JSON where no file is declared: %s', async (_title, Dto) => {
  const { dto: bound } = await bind<typeof Order | typeof Whole>(Dto, sent, forms);
  const order = bound && 'order' in bound ? bound.order : bound;
  expect(order).toMatchObject({ title: 't', line: LINE, more: [LINE, LINE] });
  expect(order?.photo.buffer.toString()).toBe('{"not":"JSON here"}');
});

it.each<[string, File, string]>([
  ['is no JSON', new File(['{'], 'blob', { type: 'application/json' }), 'line'],
  ['is no UTF-8', new File([Buffer.from([0xff])], 'blob', { type: 'application/json' }), ''],
  ['is of another type', new File(['{}'], 'blob', { type: 'text/plain' }), 'line'],
])('a part that %s is refused', async (_title, part, name) => {
  const { status, errors } = await bind(dto({ line: Line }), { multipart: [['line', part]] }, forms);
  expect([status, errors[0]?.name ?? '']).toEqual([400, name]);
});

it.each<[string, BindingOptions['limits'] & object]>([
  ['a field', { fieldBytes: 100 }],
  ['all fields', { bodyBytes: 100 }],
])('a JSON part has the limits of %s', async (_title, limits) => {
  const { status } = await bind(
    dto({ line: Line }),
    { multipart: [['line', json({ ...LINE, note: 'x'.repeat(200) })]] },
    { ...forms, limits },
  );
  expect(status).toBe(413);
});

it.each<[string, express.RequestHandler[]]>([
  ['before a form parser', []],
  ['behind multer', [multer().any()]],
])('two JSON parts of one length are two requests to idempotency(): %s', async (_title, before) => {
  let runs = 0;
  const app = express().post('/', ...before, idempotency({ store: new Keyv() }), (_req, res) => {
    res.json(++runs);
  });
  const answers: unknown[] = [];
  for (const quantity of [1, 2, 1])
    answers.push((await ask(app, { key: 'k', multipart: [['line', json({ sku: 'tea', quantity })]] })).body);
  expect(answers).toEqual([1, 2, 1]);
});
