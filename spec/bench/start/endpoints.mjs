/** 300 endpoints with three dto classes each: the request, the response, and an item of both. */
import { bindRequest, double, dto, int, optional, string } from 'bindonce';
import { orderOf } from '../json/dtos.mjs';
import { order } from '../json/values.mjs';

const COUNT = 300;

/**
 * Makes a class with a name and with a property of its own.
 */
const named = (name, properties) =>
  ({ [name]: class extends dto({ ...properties, [`of${name}`]: optional(int) }) {} })[name];

const classesOf = index => {
  const Line = named(`Line${index}`, { sku: string, quantity: int, unitPrice: double });
  const properties = orderOf(Line);
  return { Order: named(`Order${index}`, properties), Placed: named(`Placed${index}`, properties) };
};

const place = (req, res) => res.json(req.dto);

/** Mounts the endpoints. */
export function mount(app) {
  for (let index = 0; index < COUNT; index++) {
    const { Order, Placed } = classesOf(index);
    const handler = bindRequest(Order, { responses: { 200: Placed } });
    app.post(`/orders/${index}`, handler, place);
  }
}

/** A request for each of the endpoints. */
export const requests = Array.from({ length: COUNT }, (_, index) => ({
  path: `/orders/${index}`,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(order(1)),
}));
