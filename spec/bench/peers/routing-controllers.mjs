import { IsBoolean, IsInt, IsNumber } from 'class-validator';
import express from 'express';
import {
  Body,
  HeaderParam,
  HttpCode,
  JsonController,
  Params,
  Post,
  QueryParams,
  useExpressServer,
} from 'routing-controllers';
import { answerTo, route } from '../requests/order.mjs';
import { declareMethod, declareProperties } from './decorate.mjs';
import { OrderBody, OrderParams } from './order-classes.mjs';

/** Texts become numbers and booleans by the types of the properties. */
const OrderQuery = declareProperties(class OrderQuery {}, {
  priority: [Number, IsInt()],
  rush: [Boolean, IsBoolean()],
  discount: [Number, IsNumber()],
});

class Orders {
  place({ customerId }, _query, _channel, _note, { currency, items }) {
    return answerTo({ customerId, currency, items });
  }
}
JsonController()(Orders);
declareMethod(
  Orders,
  'place',
  [Post(route), HttpCode(201)],
  [
    [OrderParams, Params()],
    [OrderQuery, QueryParams()],
    [String, HeaderParam('X-Channel', { required: true })],
    [String, HeaderParam('X-Note')],
    [OrderBody, Body()],
  ],
);

export function routingControllers() {
  const app = express().disable('x-powered-by');
  // Its own error handler passes the error on after it has answered, and Express then destroys the connection.
  useExpressServer(app, { controllers: [Orders], defaultErrorHandler: false });
  return app.use((error, _req, res, _next) => {
    res.status(error.httpCode ?? 500).json({ message: error.message, errors: error.errors });
  });
}
