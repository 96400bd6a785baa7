import { ServerResponse } from 'node:http';
import { serialize } from 'cookie';
import type { Request, Response } from 'express';
import { bytesIn } from '../basics/bytes';
import { anything, checkOptions, object, type Rule } from '../options/check';
import { permissionsIn, type Claims } from '../principal/principal';
import { dtoOf, endpointFor, type Endpoint } from './bind-request';
import { BinderContext } from './input/binder-context';
import { jsonIn, type Body } from './input/body';
import { mergeBinding, type BindingOptions } from './options';
import { exactText } from './types/write-value';
import type { AnyType, Infer } from './types/property-type';

type Scalar = string | number | bigint | boolean;

/** Values by name, of which several of one name are an array; or pairs, as in URLSearchParams and Headers. */
export type SentValues =
  Readonly<Record<string, Scalar | readonly Scalar[]>> | Iterable<readonly [name: string, value: Scalar]>;

/** The parts of a request that a dto is bound from: the message of a queue, or the values of a test. */
export interface SentParts {
  /** The JSON body, or with `plainText()` the text: text or bytes, or a value of which `JSON.stringify` makes text. */
  readonly body?: unknown;
  /** The fields of a form, by name or as pairs, instead of a body. */
  readonly form?: SentValues;
  /** Route parameters, decoded; for a wildcard, its segments. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
  /** Query parameters, by name or as pairs; or a query string. */
  readonly query?: SentValues | string;
  /** Request headers, by name or as pairs. */
  readonly headers?: SentValues;
  /** Cookies, by name; signed ones, too. */
  readonly cookies?: Readonly<Record<string, string>>;
  /** The claims of the caller. Default: an anonymous caller. */
  readonly claims?: Claims;
  /** The permissions of the caller. Default: those in the claims. */
  readonly permissions?: Iterable<string>;
}

/**
 * Binds a dto without a request, by the rules of `bindRequest()`: the message of a queue, or the values of a test.
 * Forms are accepted. The options `claims` and `permissions` are not called, and a `binder`, `modifier` or
 * `failureMessage` gets a request that has these parts and nothing else.
 * @param sent the parts of a request. Names that the dto does not declare are ignored, as `unknownNames` says.
 * @returns the dto.
 * @throws the problem that `bindRequest()` would answer with; its `errors` list all failures.
 */
export type Bind = <D extends AnyType>(
  Dto: D,
  sent: SentParts,
  options?: BindingOptions<Infer<D>>,
) => Promise<Infer<D>>;

const parts: Readonly<Record<keyof SentParts, Rule>> = {
  ...{ body: anything, form: object, params: object, headers: object, cookies: object, claims: object },
  query: {
    expects: 'an object or a query string',
    accepts: value => typeof value === 'string' || object.accepts(value),
  },
  permissions: {
    expects: 'a list of texts',
    accepts: value => typeof value === 'object' && value !== null && Symbol.iterator in value,
  },
};

/** @param defaults the application's options. */
export function makeBind(defaults: BindingOptions = {}): Bind {
  /** Prepared endpoints, one for each options object and dto. */
  const known = new WeakMap<object, WeakMap<object, Endpoint>>();
  const none = {};
  return async <D extends AnyType>(Dto: D, sent: SentParts, options: BindingOptions<Infer<D>> = none) => {
    checkOptions('bind', sent, parts);
    const byDto = known.get(options) ?? new WeakMap<object, Endpoint>();
    const all = (): BindingOptions => ({ ...mergeBinding(defaults, options, 'bind'), ...fromParts });
    const endpoint = byDto.get(Dto) ?? endpointFor(Dto, all(), 'bind');
    known.set(options, byDto.set(Dto, endpoint));
    const req = requestWith(sent) as Request;
    const context = new BinderContext(req, new ServerResponse(req) as Response, endpoint, bodyOf(sent, endpoint));
    return (await dtoOf(endpoint, context)) as Infer<D>;
  };
}

const sentWith = (req: Request): SentParts => (req as unknown as { readonly sent: SentParts }).sent;

const fromParts: BindingOptions = {
  allowFormData: { urlEncoded: true },
  claims: req => sentWith(req).claims,
  permissions: req => sentWith(req).permissions ?? permissionsIn(sentWith(req).claims),
};

/** Makes what is read of a request, beside its body. */
function requestWith(sent: SentParts): object {
  const { params = {}, query = {}, headers = {}, cookies = {}, form, body } = sent;
  const lines = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of pairsOf(headers)) (lines[name.toLowerCase()] ??= []).push(value);
  const cookie = pairsOf(cookies)
    .map(pair => serialize(...pair))
    .join('; ');
  const type = form ? 'application/x-www-form-urlencoded' : 'application/json';
  return {
    method: 'POST',
    url: `/?${typeof query === 'string' ? query.replace(/^\?/, '') : new URLSearchParams(pairsOf(query)).toString()}`,
    headers: { 'content-type': type, ...(cookie && { cookie }), ...lines },
    // Where a value is missing depends on it.
    readableDidRead: (form ?? body) !== undefined,
    ...{ params, rawHeaders: [], sent, signedCookies: cookies },
  };
}

/** @throws TypeError for both a body and a form. */
function bodyOf({ body, form }: SentParts, { plan }: Endpoint): Body {
  if (body !== undefined && form !== undefined)
    throw new TypeError('bind: give either body or form; a request has one body');
  if (form !== undefined) return { kind: 'form', form: { fields: pairsOf(form), files: [] } };
  if (body === undefined || !plan) return { kind: 'none' };
  // With a replacer, bigints are written, too.
  const json = (): string => exactText(body, undefined, (_name, value) => value) ?? '';
  const text = bytesIn(body)?.toString() ?? (typeof body === 'string' ? body : json());
  return plan.body.text ? { kind: 'text', text, form: undefined } : jsonIn(text, plan.body);
}

/** Gives the text of each value; undefined is left out. */
const pairsOf = (values: SentValues): [name: string, value: string][] =>
  (Symbol.iterator in values ? [...values] : Object.entries(values)).flatMap(([name, value]) =>
    [value].flat().flatMap((one?: Scalar): [string, string][] => (one === undefined ? [] : [[name, String(one)]])),
  );
