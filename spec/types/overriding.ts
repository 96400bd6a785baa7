import { bindRequest, configure, dto, list, optional, RequestBinder, string } from '../../lib';
import type { Binder, BinderContext, BindingOptions, Modifier } from '../../lib';
import { holds, type Equal } from './equal';

class Move extends dto({ to: string, note: optional(string) }) {}
class Other extends dto({ from: string }) {}
class Raw {
  constructor(readonly path: string) {}
}

const raw: Binder<Raw> = { bind: ({ req }) => new Raw(req.path) };
class MoveBinder extends RequestBinder<Move> {}

/** What an endpoint takes: a binder of its own dto, of more than that, or of any. */
export const fitting = [
  bindRequest(Move, { binder: new MoveBinder() }),
  bindRequest(Move, { binder: new RequestBinder() }),
  bindRequest(Move, { binder: () => new RequestBinder() }),
  bindRequest(Move, { binder: Dto => new AnyBinder(Dto) }),
  bindRequest(Move, {
    binder: {
      bind: async context => {
        holds<Equal<typeof context, BinderContext<Move>>>();
        context.refuseFailures();
        return Promise.resolve(Object.assign(new Move(), { more: 1 }));
      },
    },
  }),
  bindRequest(Raw, { binder: raw }),
  bindRequest(list(Move), { binder: { bind: () => [new Move()] } }),
];
class AnyBinder<T> extends RequestBinder<T> {
  constructor(readonly Dto: unknown) {
    super();
  }
}

export const mistakes = () => [
  // @ts-expect-error -- a binder of another type than the dto
  bindRequest(Move, { binder: raw }),
  // @ts-expect-error -- a function that makes one
  bindRequest(Move, { binder: () => raw }),
  // @ts-expect-error -- one item is not a list
  bindRequest(list(Move), { binder: new MoveBinder() }),
  // @ts-expect-error -- a binder that returns nothing
  bindRequest(Move, { binder: { bind: () => undefined } }),
  // @ts-expect-error -- a configured endpoint is an endpoint like any other
  configure().bindRequest(Move, { binder: raw }),
];

/** A modifier knows what it gets: the dto of its endpoint; in configure(), where it is for all endpoints, an unknown one. */
export const modifiers = [
  bindRequest(Move, {
    modifier(dto, Dto, context, signal) {
      holds<Equal<typeof dto, Move>>();
      holds<Equal<typeof context, BinderContext>>();
      holds<Equal<typeof signal, AbortSignal>>();
      context.fail('to', `${String(Dto)} ${dto.to} ${signal.aborted}`);
      // @ts-expect-error -- the dto has no such property
      dto.nowhere = '';
    },
  }),
  configure({
    binding: {
      modifier(dto) {
        holds<Equal<typeof dto, unknown>>();
        // @ts-expect-error -- nothing is known of it
        dto.at = new Date();
      },
    },
  }),
  configure({
    binding: {
      modifier: (dto: { at?: Date }) => {
        dto.at = new Date();
      },
      binder: new RequestBinder(),
    },
  }),
  configure().bindRequest(Move, {
    modifier: dto => {
      holds<Equal<typeof dto, Move>>();
      dto.to = '';
    },
  }),
  bindRequest(Move, {
    // @ts-expect-error -- a modifier of another dto
    modifier: (dto: Other) => {
      dto.from = '';
    },
  }),
];

/** Options that are written down apart fit every endpoint; those of one dto, the endpoints of that dto. */
const shared: BindingOptions = {
  allowFormData: true,
  binder: new RequestBinder(),
  modifier: (() => undefined) satisfies Modifier,
};
const moving: BindingOptions<Move> = {
  modifier: dto => {
    holds<Equal<typeof dto, Move>>();
    dto.to = '';
  },
};
export const apart = [
  bindRequest(Move, shared),
  bindRequest(Other, shared),
  configure({ binding: shared }),
  bindRequest(Move, moving),
];
