import { bindRequest, decimal, dto, oneOf, string } from 'bindonce';
import express from 'express';

class Card extends dto({ number: string.with({ minLength: 12 }), holder: string }) {}
class Iban extends dto({ iban: string }) {}
class Pay extends dto({ amount: decimal, payment: oneOf('kind', { card: Card, iban: Iban }) }) {}

express().post('/payments', bindRequest(Pay), (req, res) => {
  const { payment } = req.dto;
  res.json(payment.kind === 'card' ? payment.holder : payment.iban);
});
