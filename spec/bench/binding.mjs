/**
 * What binding costs: a dto of ten properties with an array of twenty items, its body parsed before, made by code written by
 * hand for it, by bindRequest(), and by libraries that read or validate a body. All in one process, in turns; medians of the
 * CPU time, and their ratio to the code written by hand. Once with exact prices (decimal), as money wants them, and once with
 * doubles, which cost next to nothing: there, only the work of binding itself is left.
 */
import 'reflect-metadata';
import assert from 'node:assert/strict';
import BigNumber from 'bignumber.js';
import { bindRequest, bool, dateTime, decimal, double, dto, enumOf, guid, int, list, optional, string } from 'bindonce';
import { plainToInstance, Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDate,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  IsUUID,
  ValidateNested,
  validateSync,
} from 'class-validator';
import * as v from 'valibot';
import { z } from 'zod';

const ROUNDS = 31;
const WARM_UP = 6;
const BINDS_PER_ROUND = 2_000;
const MAX_INT = 0x7fff_ffff;
const MAX_ITEMS = 10_000;
const currencies = ['EUR', 'USD', 'GBP'];

const body = {
  reference: '0f8fad5b-d9cb-469f-a165-70867728950e',
  email: 'someone@example.org',
  currency: 'EUR',
  placedAt: '2026-11-21T08:30:00.000Z',
  note: 'second floor',
  discount: 0.05,
  priority: 3,
  gift: false,
  express: true,
  items: Array.from({ length: 20 }, (_, index) => ({
    sku: `sku-${index}`,
    quantity: index + 1,
    unitPrice: 4.5 + index,
  })),
};

/** A request as a body parser leaves it; made anew for each bind. */
const request = () => ({
  method: 'POST',
  url: '/orders',
  originalUrl: '/orders',
  headers: { 'content-type': 'application/json', 'content-length': '2000' },
  params: {},
  readableDidRead: true,
  listenerCount: () => 0,
  body,
});

/** How each contender reads a price. A number of more than 15 digits has been rounded by JSON.parse, and is refused as exact. */
const exact = number => {
  const price = new BigNumber(number);
  return price.isFinite() && price.sd() <= 15 ? price : undefined;
};
const prices = {
  'exact prices': {
    byHand: exact,
    type: decimal,
    zod: z.number().transform(number => new BigNumber(number)),
    valibot: v.pipe(
      v.number(),
      v.finite(),
      v.transform(number => new BigNumber(number)),
    ),
    decorators: [Transform(({ value }) => new BigNumber(value))],
  },
  'double prices': {
    byHand: number => (Number.isFinite(number) ? number : undefined),
    type: double,
    zod: z.number(),
    valibot: v.pipe(v.number(), v.finite()),
    decorators: [IsNumber()],
  },
};

/** The same values and the same strictness, with the names of what failed. */
function writtenByHand(priceOf) {
  const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
  const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
  class Line {
    constructor(sku, quantity, unitPrice) {
      this.sku = sku;
      this.quantity = quantity;
      this.unitPrice = unitPrice;
    }
  }
  return ({ body: given }) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Error('body');
    const failures = [];
    if (typeof given.reference !== 'string' || !UUID.test(given.reference)) failures.push('reference');
    if (typeof given.email !== 'string') failures.push('email');
    if (!currencies.includes(given.currency)) failures.push('currency');
    const placedAt = new Date(given.placedAt);
    if (!TIME.test(given.placedAt) || placedAt.getUTCDate() !== Number(given.placedAt.slice(8, 10)))
      failures.push('placedAt');
    if (given.note !== undefined && typeof given.note !== 'string') failures.push('note');
    if (!Number.isFinite(given.discount)) failures.push('discount');
    if (!Number.isInteger(given.priority) || Math.abs(given.priority) > MAX_INT) failures.push('priority');
    if (typeof given.gift !== 'boolean') failures.push('gift');
    if (typeof given.express !== 'boolean') failures.push('express');
    const items = [];
    if (!Array.isArray(given.items) || given.items.length > MAX_ITEMS) failures.push('items');
    else {
      for (const [index, line] of given.items.entries()) {
        const unitPrice = typeof line?.unitPrice === 'number' ? priceOf(line.unitPrice) : undefined;
        if (typeof line?.sku !== 'string') failures.push(`items[${index}].sku`);
        if (!Number.isInteger(line?.quantity) || Math.abs(line.quantity) > MAX_INT)
          failures.push(`items[${index}].quantity`);
        if (unitPrice === undefined) failures.push(`items[${index}].unitPrice`);
        items.push(new Line(line?.sku, line?.quantity, unitPrice));
      }
    }
    if (failures.length > 0) throw new Error(failures.join());
    const { reference, email, currency, note, discount, priority, gift, express } = given;
    return {
      reference: reference.toLowerCase(),
      email,
      currency,
      placedAt,
      note,
      discount,
      priority,
      gift,
      express,
      items,
    };
  };
}

/** As an application runs it. Nothing here has to be waited for: the next handler has its turn before the middleware returns. */
function throughMiddleware(middleware) {
  const next = error => {
    if (error) throw error;
  };
  return req => {
    middleware(req, {}, next);
    return req.dto;
  };
}

const middlewareOf = read => (req, res, next) => {
  req.dto = read(req);
  next();
};

const dtoWith = price => {
  class Line extends dto({ sku: string, quantity: int, unitPrice: price }) {}
  return class Order extends dto({
    reference: guid,
    email: string,
    currency: enumOf(currencies),
    placedAt: dateTime,
    note: optional(string),
    discount: double,
    priority: int,
    gift: bool,
    express: bool,
    items: list(Line),
  }) {};
};

const zodWith = price =>
  z.object({
    reference: z.uuid(),
    email: z.string(),
    currency: z.enum(currencies),
    placedAt: z.iso.datetime().transform(text => new Date(text)),
    note: z.string().optional(),
    discount: z.number(),
    priority: z.int32(),
    gift: z.boolean(),
    express: z.boolean(),
    items: z.array(z.object({ sku: z.string(), quantity: z.int32(), unitPrice: price })).max(MAX_ITEMS),
  });

const int32 = v.pipe(v.number(), v.integer(), v.minValue(-MAX_INT - 1), v.maxValue(MAX_INT));
const valibotWith = price =>
  v.object({
    reference: v.pipe(v.string(), v.uuid()),
    email: v.string(),
    currency: v.picklist(currencies),
    placedAt: v.pipe(
      v.string(),
      v.isoTimestamp(),
      v.transform(text => new Date(text)),
    ),
    note: v.optional(v.string()),
    discount: v.pipe(v.number(), v.finite()),
    priority: int32,
    gift: v.boolean(),
    express: v.boolean(),
    items: v.pipe(v.array(v.object({ sku: v.string(), quantity: int32, unitPrice: price })), v.maxLength(MAX_ITEMS)),
  });

/** Decorators are functions: called by hand, they need no compiler. */
function classWith(priceDecorators) {
  const decorated = (target, shape) => {
    for (const [name, decorators] of Object.entries(shape))
      for (const decorator of decorators) decorator(target.prototype, name);
    return target;
  };
  const Line = decorated(class {}, { sku: [IsString()], quantity: [IsInt()], unitPrice: priceDecorators });
  return decorated(class {}, {
    reference: [IsUUID()],
    email: [IsString()],
    currency: [IsIn(currencies)],
    placedAt: [Type(() => Date), IsDate()],
    note: [IsOptional(), IsString()],
    discount: [IsNumber()],
    priority: [IsInt()],
    gift: [IsBoolean()],
    express: [IsBoolean()],
    items: [IsArray(), ArrayMaxSize(MAX_ITEMS), ValidateNested({ each: true }), Type(() => Line)],
  });
}

function contendersFor(price) {
  const [zodOrder, valibotOrder, Validated] = [
    zodWith(price.zod),
    valibotWith(price.valibot),
    classWith(price.decorators),
  ];
  return {
    'by hand': middlewareOf(writtenByHand(price.byHand)),
    'bindRequest(Dto)': bindRequest(dtoWith(price.type)),
    'bindRequest(zod schema)': bindRequest(zodOrder),
    'zod 4 (JIT)': middlewareOf(req => zodOrder.parse(req.body)),
    valibot: middlewareOf(req => v.parse(valibotOrder, req.body)),
    'class-transformer + class-validator': middlewareOf(req => {
      const order = plainToInstance(Validated, req.body);
      if (validateSync(order).length > 0) throw new Error('not valid');
      return order;
    }),
  };
}

/** What nobody keeps, a compiler need not make. */
const kept = new Array(64);

const median = numbers => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

for (const [title, price] of Object.entries(prices)) {
  const contenders = Object.fromEntries(
    Object.entries(contendersFor(price)).map(([name, middleware]) => [name, throughMiddleware(middleware)]),
  );
  const expected = JSON.stringify(contenders['by hand'](request()));
  for (const [name, contender] of Object.entries(contenders))
    assert.deepEqual(JSON.parse(JSON.stringify(contender(request()))), JSON.parse(expected), name);
  const micros = Object.fromEntries(Object.keys(contenders).map(name => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, contender] of Object.entries(contenders)) {
      const before = process.cpuUsage();
      for (let i = 0; i < BINDS_PER_ROUND; i++) kept[i % kept.length] = contender(request());
      const { user, system } = process.cpuUsage(before);
      // The first rounds are the compiler's.
      if (round >= WARM_UP) micros[name].push((user + system) / BINDS_PER_ROUND);
    }
  }
  const byHand = median(micros['by hand']);
  console.log(`\n| Ten properties, twenty items, ${title} | µs of CPU | by hand = 1 |\n|---|---|---|`);
  for (const [name, all] of Object.entries(micros))
    console.log(`| ${name} | ${median(all).toFixed(1)} | ${(median(all) / byHand).toFixed(2)} |`);
}
