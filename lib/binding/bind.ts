import { ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { anything, checkOptions, object, type Rule } from '../options/check';
import { permissionsIn } from '../principal/permissions';
import { BINDER_ANSWERED } from './answered';
import { bindingOf } from './endpoint-binding';
import { MadeRequest, type SentParts } from './made-request';
import { mergeBinding } from './endpoint-options';
import type { BindingOptions } from './options';
import type { AnyType, Infer } from './types/property-type';

/**
 * Binds a dto without a request, by the rules of `bindRequest()`: the message of a queue, or the values of a test.
 * Forms are accepted. The options `claims` and `permissions` are not called, and a `binder`, `modifier` or
 * `failureMessage` gets a request and a response of node, without a connection and without Express's own members.
 * @param sent the parts of a request. Names that the dto does not declare are ignored.
 * @returns the dto.
 * @throws the problem that `bindRequest()` would answer with; its `errors` list all failures.
 */
export type Bind = <D extends AnyType>(
  Dto: D,
  sent: SentParts,
  options?: BindingOptions<Infer<D>>,
) => Promise<Infer<D>>;

type Bound = ReturnType<typeof bindingOf>['bind'];

const parts: Readonly<Record<keyof SentParts, Rule>> = {
  body: anything,
  form: object,
  params: object,
  query: {
    expects: 'an object or a query string',
    accepts: value => typeof value === 'string' || object.accepts(value),
  },
  headers: object,
  cookies: object,
  claims: object,
  permissions: {
    expects: 'a list of texts',
    accepts: value => typeof value === 'object' && value !== null && Symbol.iterator in value,
  },
};

/** @param defaults the application's options. */
export function makeBind(defaults: BindingOptions = {}): Bind {
  /** Prepared bindings, one for each dto and options object. */
  const known = new WeakMap<object, WeakMap<object, Bound>>();
  const none = {};
  const boundFor = (Dto: AnyType, options: BindingOptions = none): Bound => {
    const byDto = known.get(options) ?? new WeakMap<object, Bound>();
    const bound = byDto.get(Dto) ?? bindingOf(Dto, optionsOfBind(mergeBinding(defaults, options, 'bind')), 'bind').bind;
    known.set(options, byDto.set(Dto, bound));
    return bound;
  };
  return async <D extends AnyType>(Dto: D, sent: SentParts, options?: BindingOptions<Infer<D>>) => {
    checkOptions('bind', sent, parts);
    const bound = boundFor(Dto, options);
    const req = new MadeRequest(sent) as unknown as Request;
    const res = new ServerResponse(req) as Response;
    try {
      const dto = await bound(req, res);
      if (dto === BINDER_ANSWERED)
        throw new TypeError(
          'bind: the binder or the modifier has written to `context.res`, but there is no client to answer. ' +
            'Report what is wrong with context.fail(), or throw an error.',
        );
      return dto as Infer<D>;
    } finally {
      endExchange(res);
    }
  };
}

/** Ends an exchange as if its response had been received: what is held for the request is given back. */
function endExchange(res: ServerResponse): void {
  // The signal of a binder aborts only if a client disconnects before that, and here no client has gone.
  Object.defineProperty(res, 'writableFinished', { value: true });
  res.destroy();
  // Node emits it only for a response that has, or gets, a connection.
  res.emit('close');
}

const sentWith = (req: Request): SentParts => (req as unknown as MadeRequest).sent;

const optionsOfBind = (options: BindingOptions): BindingOptions => ({
  ...options,
  allowFormData: { urlEncoded: true },
  claims: req => sentWith(req).claims,
  permissions: req => sentWith(req).permissions ?? permissionsIn(sentWith(req).claims),
});
