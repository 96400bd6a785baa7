import { bindRequest, dto, field, int, string } from 'bindonce';

class PlaceOrder extends dto({ sku: field(string, { description: 'As on the label' }) }) {}
class Placed extends dto({ id: int }) {}

export const place = bindRequest(PlaceOrder, {
  responses: { 201: Placed },
  openapi: { summary: 'Places an order', tags: ['orders'], examples: { tea: { value: { sku: 'TE-0001' } } } },
});
