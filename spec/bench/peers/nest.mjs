/**
 * NestJS on Express, with its pipe for whole objects. Decorators are functions: called by hand, they need no compiler. The
 * types that TypeScript would emit for them (as `design:type` and `design:paramtypes`) are declared here as well.
 */
import 'reflect-metadata';
import { Body, Controller, createParamDecorator, Module, Param, Post, Query, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Transform, Type } from 'class-transformer';
import * as check from 'class-validator';
import { answerTo, currencies, MAX_ITEMS, route } from '../requests/order.mjs';

/** @param properties for each name its type, then its decorators */
function declared(properties) {
  const target = class {};
  for (const [name, [type, ...decorators]] of Object.entries(properties)) {
    Reflect.defineMetadata('design:type', type, target.prototype, name);
    for (const decorator of decorators) decorator(target.prototype, name);
  }
  return target;
}

const booleans = { true: true, false: false };
const OrderParams = declared({ customerId: [String, check.IsUUID()] });
const OrderQuery = declared({
  priority: [Number, Type(() => Number), check.IsInt()],
  rush: [Boolean, Transform(({ value }) => booleans[value]), check.IsBoolean()],
  discount: [Number, Type(() => Number), check.IsNumber()],
});
const OrderHeaders = declared({
  'x-channel': [String, check.IsString()],
  'x-note': [String, check.IsOptional(), check.IsString()],
});
const Line = declared({
  sku: [String, check.IsString()],
  quantity: [Number, check.IsInt()],
  unitPrice: [Number, check.IsNumber()],
});
const OrderBody = declared({
  currency: [String, check.IsIn(currencies)],
  placedAt: [Date, Type(() => Date), check.IsDate()],
  gift: [Boolean, check.IsBoolean()],
  items: [
    Array,
    check.IsArray(),
    check.ArrayMaxSize(MAX_ITEMS),
    check.ValidateNested({ each: true }),
    Type(() => Line),
  ],
});

/** Pipes do not run for the parameters of Nest's own `@Headers()`. */
const RequestHeaders = createParamDecorator((_data, context) => context.switchToHttp().getRequest().headers);

export async function nestWithClasses() {
  class Orders {
    place({ customerId }, _query, _headers, { currency, items }) {
      return answerTo({ customerId, currency, items });
    }
  }
  Controller()(Orders);
  const { prototype } = Orders;
  Reflect.defineMetadata('design:paramtypes', [OrderParams, OrderQuery, OrderHeaders, OrderBody], prototype, 'place');
  for (const [index, decorator] of [Param(), Query(), RequestHeaders(), Body()].entries())
    decorator(prototype, 'place', index);
  Post(route)(prototype, 'place', Object.getOwnPropertyDescriptor(prototype, 'place'));
  class Shop {}
  Module({ controllers: [Orders] })(Shop);
  const app = await NestFactory.create(Shop, { logger: false });
  app.disable('x-powered-by');
  app.useGlobalPipes(new ValidationPipe({ transform: true, validateCustomDecorators: true }));
  await app.init();
  return app.getHttpAdapter().getInstance();
}
