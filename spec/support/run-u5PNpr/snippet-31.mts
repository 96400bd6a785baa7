import { bindRequest, bool, guid, queryParam, routeParam } from 'bindonce';
import express from 'express';

class CancelOrder {
  @routeParam(guid) orderId!: string;
  @queryParam(bool) notify = true;                      // an initialiser is the default
}

express().delete('/orders/:orderId', bindRequest(CancelOrder), (req, res) => {
  res.json({ cancelled: req.dto.orderId });
});
