import { bindRequest, bool, decimal, dto, field, formField, fromClaim, fromCookie, fromHeader, hasPermission, int, jsonField, list, optional, queryParam, routeParam, string } from 'bindonce';

export class Everything extends dto({
  note: string,                                                 // JSON body, form, route or query
  tags: field(list(string), { default: [] }),                   // the same
  price: jsonField(decimal),                                    // JSON body only
  roomId: routeParam(int),
  rush: queryParam(bool, { default: false }),
  title: formField(optional(string)),                           // needs allowFormData
  customerId: fromClaim(int, { name: 'sub' }),                  // of req.auth or req.user
  appVersion: fromHeader(string, { name: 'X-App-Version' }),
  theme: fromCookie(optional(string)),
  mayRefund: hasPermission('orders:refund', { required: false }),
}) {}

export const bindEverything = bindRequest(Everything, { allowFormData: true });
