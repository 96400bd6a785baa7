/**
 * What binding costs: one dto of ten properties with an array of twenty items, its body already parsed, made by code written
 * by hand for it, by bindRequest(), and by libraries that read or validate a body. CPU time, all in one process, in turns;
 * the median of the rounds, as a ratio to the code written by hand.
 */
import 'reflect-metadata';
import { ArrayMaxSize, IsArray, IsBoolean, IsDate, IsEmail, IsIn, IsInt, IsNumber, IsOptional, IsString, IsUUID, ValidateNested, validateSync } from 'class-validator';
import { plainToInstance, Transform, Type } from 'class-transformer';
import BigNumber from 'bignumber.js';
import { bindRequest, bool, dateTime, decimal, double, dto, enumOf, guid, int, list, optional, string } from 'bindonce';
import * as v from 'valibot';
import { z } from 'zod';

const ROUNDS = 31;
const BINDS_PER_ROUND = 2_000;
const currencies = ['EUR', 'USD', 'GBP'];

const body = {
  reference: '0f8fad5b-d9cb-469f-a165-70867728950e', email: 'someone@example.org', currency: 'EUR', placedAt: '2026-11-21T08:30:00.000Z', note: 'second floor',
  discount: 0.05, priority: 3, gift: false, express: true,
  items: Array.from({ length: 20 }, (_, index) => ({ sku: `sku-${index}`, quantity: index + 1, unitPrice: 4.5 + index })),
};

/** Made anew for each bind, as Express does for each request. */
const request = () => ({ method: 'POST', url: '/orders', originalUrl: '/orders', headers: { 'content-type': 'application/json', 'content-length': '2000' }, params: {}, readableDidRead: true, body });

// By hand: the same values, the same strictness, failures with their names.
class Line { constructor(sku, quantity, unitPrice) { this.sku = sku; this.quantity = quantity; this.unitPrice = unitPrice; } }
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function byHand(req) {
  const failures = [];
  const given = req.body;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Error('body');
  if (typeof given.reference !== 'string' || !UUID.test(given.reference)) failures.push('reference');
  if (typeof given.email !== 'string') failures.push('email');
  if (!currencies.includes(given.currency)) failures.push('currency');
  if (typeof given.placedAt !== 'string' || !DATE_TIME.test(given.placedAt)) failures.push('placedAt');
  const placedAt = new Date(given.placedAt);
  if (Number.isNaN(placedAt.getTime()) || placedAt.toISOString() !== given.placedAt) failures.push('placedAt');
  if (given.note !== undefined && typeof given.note !== 'string') failures.push('note');
  if (typeof given.discount !== 'number' || !Number.isFinite(given.discount)) failures.push('discount');
  if (!Number.isInteger(given.priority) || Math.abs(given.priority) > 0x7fff_ffff) failures.push('priority');
  if (typeof given.gift !== 'boolean') failures.push('gift');
  if (typeof given.express !== 'boolean') failures.push('express');
  const items = [];
  if (!Array.isArray(given.items) || given.items.length > 10_000) failures.push('items');
  else {
    for (const [index, line] of given.items.entries()) {
      if (typeof line !== 'object' || line === null) { failures.push(`items[${index}]`); continue; }
      if (typeof line.sku !== 'string') failures.push(`items[${index}].sku`);
      if (!Number.isInteger(line.quantity) || Math.abs(line.quantity) > 0x7fff_ffff) failures.push(`items[${index}].quantity`);
      const unitPrice = new BigNumber(line.unitPrice);
      if (typeof line.unitPrice !== 'number' || !unitPrice.isFinite() || unitPrice.sd() > 15) failures.push(`items[${index}].unitPrice`);
      items.push(new Line(line.sku, line.quantity, unitPrice));
    }
  }
  if (failures.length > 0) throw new Error(failures.join());
  const { reference, email, currency, note, discount, priority, gift, express } = given;
  return { reference: reference.toLowerCase(), email, currency, placedAt, note, discount, priority, gift, express, items };
}

class OrderLine extends dto({ sku: string, quantity: int, unitPrice: decimal }) {}
class Order extends dto({ reference: guid, email: string, currency: enumOf(currencies), placedAt: dateTime, note: optional(string), discount: double, priority: int, gift: bool, express: bool, items: list(OrderLine) }) {}
const bind = bindRequest(Order);
const bound = req => new Promise((resolve, reject) => { bind(req, {}, error => { if (error) reject(error); else resolve(req.dto); }); });

const zodOrder = z.object({
  reference: z.uuid(), email: z.string(), currency: z.enum(currencies), placedAt: z.iso.datetime().transform(text => new Date(text)), note: z.string().optional(), discount: z.number(),
  priority: z.int32(), gift: z.boolean(), express: z.boolean(), items: z.array(z.object({ sku: z.string(), quantity: z.int32(), unitPrice: z.number().transform(price => new BigNumber(price)) })).max(10_000),
});
const viaZod = bindRequest(zodOrder);
const boundByZod = req => new Promise((resolve, reject) => { viaZod(req, {}, error => { if (error) reject(error); else resolve(req.dto); }); });

const int32 = v.pipe(v.number(), v.integer(), v.minValue(-0x8000_0000), v.maxValue(0x7fff_ffff));
const valibotOrder = v.object({
  reference: v.pipe(v.string(), v.uuid()), email: v.string(), currency: v.picklist(currencies), placedAt: v.pipe(v.string(), v.isoTimestamp(), v.transform(text => new Date(text))), note: v.optional(v.string()), discount: v.pipe(v.number(), v.finite()),
  priority: int32, gift: v.boolean(), express: v.boolean(), items: v.pipe(v.array(v.object({ sku: v.string(), quantity: int32, unitPrice: v.pipe(v.number(), v.finite(), v.transform(price => new BigNumber(price))) })), v.maxLength(10_000)),
});

class LineClass {}
class OrderClass {}
const declare = (target, shape) => { for (const [name, decorators] of Object.entries(shape)) for (const decorator of decorators) decorator(target.prototype, name); };
declare(LineClass, { sku: [IsString()], quantity: [IsInt()], unitPrice: [Transform(({ value }) => new BigNumber(value))] });
declare(OrderClass, {
  reference: [IsUUID()], email: [IsString()], currency: [IsIn(currencies)], placedAt: [Type(() => Date), IsDate()], note: [IsOptional(), IsString()], discount: [IsNumber()],
  priority: [IsInt()], gift: [IsBoolean()], express: [IsBoolean()], items: [IsArray(), ArrayMaxSize(10_000), ValidateNested({ each: true }), Type(() => LineClass)],
});
void IsEmail;

const contenders = {
  'by hand': byHand,
  'bindRequest(dto)': bound,
  'bindRequest(zod schema)': boundByZod,
  'zod 4 (JIT)': req => zodOrder.parse(req.body),
  valibot: req => v.parse(valibotOrder, req.body),
  'class-transformer + class-validator': req => {
    const order = plainToInstance(OrderClass, req.body);
    if (validateSync(order).length > 0) throw new Error('not valid');
    return order;
  },
};

const micros = Object.fromEntries(Object.keys(contenders).map(name => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, contender] of Object.entries(contenders)) {
    const before = process.cpuUsage();
    for (let i = 0; i < BINDS_PER_ROUND; i++) await contender(request());
    const { user, system } = process.cpuUsage(before);
    // The first rounds are for the compiler.
    if (round > 5) micros[name].push((user + system) / BINDS_PER_ROUND);
  }
}
const median = numbers => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const base = median(micros['by hand']);
console.log('| Ten properties, an array of twenty | µs of CPU | by hand = 1 |\n|---|---|---|');
for (const [name, all] of Object.entries(micros)) console.log(`| ${name} | ${median(all).toFixed(2)} | ${(median(all) / base).toFixed(2)} |`);
