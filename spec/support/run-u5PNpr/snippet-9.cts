import { bind, dto, int, long, routeParam } from 'bindonce';

class PlaceOrder extends dto({ customerId: routeParam(int), total: long }) {}

export const onMessage = (content: Buffer, customerId: string): Promise<PlaceOrder> =>
  bind(PlaceOrder, { body: content, params: { customerId } });
