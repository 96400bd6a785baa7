/** The order for class-transformer and class-validator. Each framework reads texts of the query in its own way. */
import { Type } from 'class-transformer';
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
} from 'class-validator';
import { currencies, MAX_ITEMS } from '../requests/order.mjs';
import { declareProperties } from './decorate.mjs';

const Line = declareProperties(class Line {}, {
  sku: [String, IsString()],
  quantity: [Number, IsInt()],
  unitPrice: [Number, IsNumber()],
});

export const OrderParams = declareProperties(class OrderParams {}, { customerId: [String, IsUUID()] });

export const OrderHeaders = declareProperties(class OrderHeaders {}, {
  'x-channel': [String, IsString()],
  'x-note': [String, IsOptional(), IsString()],
});

export const OrderBody = declareProperties(class OrderBody {}, {
  currency: [String, IsIn(currencies)],
  placedAt: [Date, Type(() => Date), IsDate()],
  gift: [Boolean, IsBoolean()],
  items: [Array, IsArray(), ArrayMaxSize(MAX_ITEMS), ValidateNested({ each: true }), Type(() => Line)],
});
