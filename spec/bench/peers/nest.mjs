/** NestJS on Express, with the two pipes that it has for whole objects. */
import {
  Body,
  Controller,
  createParamDecorator,
  Module,
  Param,
  Post,
  Query,
  StandardSchemaValidationPipe,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Transform, Type } from 'class-transformer';
import { IsBoolean, IsInt, IsNumber } from 'class-validator';
import { answerTo, route } from '../requests/order.mjs';
import { declareMethod, declareProperties } from './decorate.mjs';
import { OrderBody, OrderHeaders, OrderParams } from './order-classes.mjs';

/** Pipes do not run for the parameters of Nest's own `@Headers()`. */
const RequestHeaders = createParamDecorator((_data, context) => context.switchToHttp().getRequest().headers);

/** @param parameters the type and the decorator of route parameters, query, headers and body */
async function nest(pipe, parameters) {
  class Orders {
    place({ customerId }, _query, _headers, { currency, items }) {
      return answerTo({ customerId, currency, items });
    }
  }
  Controller()(Orders);
  declareMethod(Orders, 'place', [Post(route)], parameters);
  class Shop {}
  Module({ controllers: [Orders] })(Shop);
  const app = await NestFactory.create(Shop, { logger: false });
  app.disable('x-powered-by');
  app.useGlobalPipes(pipe);
  await app.init();
  return app.getHttpAdapter().getInstance();
}

const booleans = { true: true, false: false };

const OrderQuery = declareProperties(class OrderQuery {}, {
  priority: [Number, Type(() => Number), IsInt()],
  rush: [Boolean, Transform(({ value }) => booleans[value]), IsBoolean()],
  discount: [Number, Type(() => Number), IsNumber()],
});

export const nestWithClasses = () =>
  nest(new ValidationPipe({ transform: true, validateCustomDecorators: true }), [
    [OrderParams, Param()],
    [OrderQuery, Query()],
    [OrderHeaders, RequestHeaders()],
    [OrderBody, Body()],
  ]);

export const nestWithSchemas = ({ params, query, headers, body }) =>
  nest(new StandardSchemaValidationPipe({ validateCustomDecorators: true }), [
    [Object, Param({ schema: params })],
    [Object, Query({ schema: query })],
    [Object, RequestHeaders({ schema: headers })],
    [Object, Body({ schema: body })],
  ]);
