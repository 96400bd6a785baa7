import { bindRequest, configure, dto, int, RequestBinder, routeParam, string, valueParserFor, type Binder, type BinderContext } from 'bindonce';
import express from 'express';

class Move extends dto({ orderId: routeParam(int), to: string }) {}

class MoveBinder extends RequestBinder<Move> {                  // extends the built-in binder
  override async bind(context: BinderContext<Move>, signal: AbortSignal): Promise<Move> {
    const move = await super.bind(context, signal);             // goes on only if everything could be bound
    if (move.to === 'nowhere') context.fail('to', 'There is no such place.');
    return move;
  }
}

class Raw { constructor(readonly path: string) {} }
const raw: Binder<Raw> = { bind: ({ req }) => new Raw(req.path) };   // replaces it

const app = express();
app.post('/orders/:orderId/move', bindRequest(Move, { binder: new MoveBinder() }), (req, res) => { res.json(req.dto.to); });
app.get('/raw', bindRequest(Raw, { binder: raw }), (req, res) => { res.json(req.dto.path); });

class Tag { constructor(readonly text: string) {} }
export const { bindRequest: bind } = configure({                // for all endpoints
  binding: {
    modifier: dto => { if (dto instanceof Move) dto.to = dto.to.trim(); },
    valueParsers: [valueParserFor(Tag, input => (input ? { success: true, value: new Tag(input) } : { success: false }))],
    failureMessage: ({ code, name }, req) => (code === 'missing' && req.acceptsLanguages('de') ? `${name} fehlt.` : undefined),
  },
});
