import express from 'express';
import { z } from 'zod';
import { apiDocs, dto, field, guid, idempotency, int, list, openapi, type PropertyType } from '../../lib';

/** Which arguments fit that no dto and no handler depends on: routers, and the type of the idempotency key. */

const info = { title: 'Orders', version: '1.0.0' };

class Code {
  static tryParse(text: string | undefined): { success: true; value: Code } | { success: false } {
    return text === undefined ? { success: false } : { success: true, value: new Code() };
  }
}

export const documents = () => [
  openapi(express(), { info }),
  openapi(express.Router(), { info, mounts: { '/orders': express.Router(), '/shop': express() } }),
  apiDocs(express(), { info }),
  // @ts-expect-error -- an object is no application
  openapi({}, { info }),
  // @ts-expect-error -- the path of an application is none
  apiDocs('/orders', { info }),
  // @ts-expect-error -- an object is no router
  openapi(express(), { info, mounts: { '/orders': {} } }),
];

export const guards = (declared: PropertyType) => [
  ...[declared, guid, list(int), z.uuid(), Code, dto({ order: int })].map(swaggerHeaderType =>
    idempotency({ swaggerHeaderType }),
  ),
  // @ts-expect-error -- an object is no type
  idempotency({ swaggerHeaderType: {} }),
  // @ts-expect-error -- the name of a type is none
  idempotency({ swaggerHeaderType: 'guid' }),
  // @ts-expect-error -- a declaration is no type
  idempotency({ swaggerHeaderType: field(guid) }),
];
