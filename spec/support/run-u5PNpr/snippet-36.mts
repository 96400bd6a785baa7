import { bindRequest, date, dto, type Fail } from 'bindonce';
import express from 'express';

class Stay extends dto({ from: date, to: date }) {
  static check(stay: Stay, fail: Fail<Stay>) {
    if (stay.to < stay.from) fail('to', 'must not be before from');
  }
}

express().post('/stays', bindRequest(Stay), (req, res) => { res.json(req.dto.from); });
