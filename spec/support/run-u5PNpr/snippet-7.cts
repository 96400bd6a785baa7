import { configure, dto, long, type JsonConverter } from 'bindonce';
import express from 'express';

class Money { constructor(readonly amount: string) {} }
const money: JsonConverter<Money> = {
  type: Money,
  read: json => (typeof json === 'string' ? { success: true, value: new Money(json) } : { success: false }),
  write: ({ amount }) => amount,
};
class Pay extends dto({ invoiceId: long, price: Money }) {}

const { bindRequest } = configure({ binding: { converters: [money], propertyNamingPolicy: 'snake_case' } });
express().post('/payments', bindRequest(Pay, { responses: { 201: Pay } }), (req, res) => {
  res.status(201).json({ ...req.dto, secret: 'not written' });  // {"invoice_id":9007199254740993,"price":"5"}
});
