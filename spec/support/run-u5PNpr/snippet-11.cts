import {
  bindRequest, bool, configure, date, dateTime, decimal, double, dto, enumOf, field, file, formField, fromBody, fromClaim, fromCookie,
  fromForm, fromHeader, fromQuery, guid, hasPermission, int, jsonField, lazy, list, long, nullable, omit, oneOf, optional,
  partial, pick, plainText, queryParam, queryValue, record, routeParam, routeValue, string, time, timeSpan, uri, version, type Fail, type PropertyType,
} from 'bindonce';
import express from 'express';

// Where a value comes from
class Sources extends dto({
  anywhere: string,                                        // JSON body, form, route or query
  tuned: field(string, { bindFrom: 'tuned-name', jsonPropertyName: 'tunedName', dontBind: ['query'], description: '…' }),
  body: jsonField(int),
  title: formField(string),                                // bindRequest(Dto, { allowFormData: true })
  id: routeParam(guid),
  page: queryParam(int, { default: 1 }),
  userId: fromClaim(string, { name: 'sub' }),
  tenant: fromHeader(string, { name: 'X-Tenant', required: false, fallback: false }),
  theme: fromCookie(optional(string)),
  mayRefund: hasPermission('orders:refund', { required: false }),
}) {}

// What it is
class Types extends dto({
  texts: string, yes: bool, small: int, large: long, inexact: double, exact: decimal,          // long: bigint, decimal: BigNumber
  at: dateTime, day: date, clock: time, took: timeSpan,                                        // Date, text, text, milliseconds
  key: guid, page: uri, app: version, state: enumOf(['open', 'paid']),
  many: list(int), named: record(decimal), maybe: optional(int), orNull: nullable(int), absent: optional(int, { null: 'refuse' }),
}) {}
class Folder extends dto({ name: string, folders: list(lazy((): PropertyType<Folder> => Folder)) }) {}

// What is allowed
class Rules extends dto({
  quantity: int.with({ minimum: 1, maximum: 99 }),
  price: decimal.with({ exclusiveMinimum: 0, multipleOf: '0.01' }),
  sku: string.with({ minLength: 1, maxLength: 20, pattern: /^[A-Z]/, trim: true }),
  email: string.with({ format: 'email' }),                 // email, hostname, ipv4, ipv6
  tags: list(string, { minItems: 1, maxItems: 5, uniqueItems: true }),
  from: date.with({ minimum: '2026-01-01' }),
  agree: bool.with({ checkbox: true }),
  even: int.with({ check: value => value % 2 === 0 || 'must be even' }),      // may be asynchronous
}) {
  static check(rules: Rules, fail: Fail<Rules>) {          // across properties
    if (rules.tags.length > rules.quantity) fail('tags', 'must not be more than the quantity');
  }
}

// Whole bodies, forms and queries
class Card extends dto({ number: string }) {}
class Iban extends dto({ iban: string }) {}
class Pay extends dto({ with: oneOf('kind', { card: Card, iban: Iban }) }) {}
class Whole extends dto({ pay: fromBody(Pay) }) {}
class Form extends dto({ pay: fromForm(Pay) }) {}
class Search extends dto({ filter: fromQuery(optional(Iban)), page: int }) {}
class Note extends dto({ text: plainText() }) {}
class Upload extends dto({ photo: file.with({ maxBytes: 1_000_000, mediaTypes: ['image/*'] }), more: list(file) }) {}

// Classes from classes
class New extends omit(Rules, ['sku']) {}
class Patch extends partial(New) {}
class OnlyPrice extends pick(Rules, ['price']) {}

// Middlewares
const app = express();
const { bindRequest: bind, idempotency } = configure({
  idempotency: { cacheDuration: 86_400_000, whenKeyReused: 'reject' },
  binding: { fieldSources: ['json'], fallback: false, unknownNames: 'refuse', propertyNamingPolicy: 'snake_case' },
});
app.post('/rules', idempotency(), bind(Rules, { responses: { 201: New } }), (req, res) => { res.status(201).json(req.dto); });
app.post('/lists', bindRequest(list(Card)), (req, res) => { res.json(req.dto.length); });
app.get('/rules/:id', (req, res) => { res.json([routeValue(req, 'id', guid), queryValue(req, 'page', int, { required: false })]); });
export { Folder, Form, Note, OnlyPrice, Patch, Search, Sources, Types, Upload, Whole };
