import express from 'express';
import { attachRouting, createConfig, EndpointsFactory, ensureHttpError, ResultHandler } from 'express-zod-api';
import { z } from 'zod';
import { answerTo, currencies, MAX_ITEMS } from '../requests/order.mjs';

const input = z.object({
  customerId: z.uuid(),
  priority: z.coerce.number().int(),
  rush: z.enum(['true', 'false']).transform(text => text === 'true'),
  discount: z.coerce.number(),
  'x-channel': z.string(),
  'x-note': z.string().optional(),
  currency: z.enum(currencies),
  placedAt: z.iso.datetime().transform(text => new Date(text)),
  gift: z.boolean(),
  items: z.array(z.object({ sku: z.string(), quantity: z.int32(), unitPrice: z.number() })).max(MAX_ITEMS),
});

/** Answers with the output alone; its default handler would wrap it. */
const factory = new EndpointsFactory(
  new ResultHandler({
    positive: schema => ({ schema, statusCode: 201 }),
    negative: z.object({ message: z.string() }),
    handler: ({ error, output, response }) => {
      if (error) response.status(ensureHttpError(error).statusCode).json({ message: error.message });
      else response.status(201).json(output);
    },
  }),
);

const place = factory.build({
  method: 'post',
  input,
  output: z.object({ customerId: z.string(), currency: z.string(), lines: z.number() }),
  handler: async ({ input: order }) => answerTo(order),
});

export function expressZodApi() {
  const app = express().disable('x-powered-by').use(express.json());
  const inputSources = { post: ['headers', 'query', 'body', 'params'] };
  attachRouting(createConfig({ app, cors: false, startupLogo: false, inputSources }), {
    customers: { ':customerId': { orders: place } },
  });
  return app;
}
