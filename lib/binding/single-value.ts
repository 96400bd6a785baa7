import type { Request, Response } from 'express';
import { ignoreRejection, isPromise } from '../basics/awaitable';
import { boolean, checkOptions } from '../options/check';
import { answerInHandler, type Answering } from '../problems/answer';
import { Problem } from '../problems/problem';
import { specOf, type PropertyKind } from './declaration/property';
import { BinderContext, type ResolvedOptions } from './input/binder-context';
import { CodecTable } from './declaration/codec-table';
import { planOfOne, type Plan } from './plan/plan';
import { bindDeclared } from './bind-request';
import { assertType, isOptional, type AnyType, type IfRequired, type Infer } from './types/property-type';

/** Options of a reader of one value. */
export interface ValueOptions {
  /** When false, a missing or invalid value is undefined. Default true. */
  readonly required?: boolean;
}

/**
 * Reads one value of a request without a dto. If the value is missing or invalid, the request is answered at once
 * (400), and the problem is thrown to stop the handler.
 * @throws the problem that was answered, or the error that `onProblem` passed to `next`.
 * @throws TypeError for an argument that is not a type, and for a type that is read asynchronously.
 */
export type ReadValue = <X extends AnyType, const O extends ValueOptions = { readonly required?: true }>(
  req: Request,
  name: string,
  type: X,
  options?: O,
) => IfRequired<Infer<X>, O>;

/** Readers of single values of a request. */
export interface ValueReaders {
  /** Reads one route parameter: `routeValue(req, 'id', guid)`. */
  readonly routeValue: ReadValue;
  /** Reads one query parameter. */
  readonly queryValue: ReadValue;
  /** Reads one header; its name is case-insensitive. */
  readonly headerValue: ReadValue;
  /** Reads one cookie; its name is case-sensitive. */
  readonly cookieValue: ReadValue;
}

const described = 'a value of a type that can be read';
const UNREADABLE: AnyType = { codec: () => ({ kind: 'scalar', name: 'value', described, text: () => undefined }) };

/** Makes the readers for an application's options. */
export function valueReaders(resolved: ResolvedOptions, answering?: Answering): ValueReaders {
  // Other names are those of other readers.
  const options: ResolvedOptions = { ...resolved, unknownNames: 'ignore' };
  const codecs = new CodecTable(options.serializer, options.valueParsers);
  const readerOf = (reader: keyof ValueReaders, kind: PropertyKind): ReadValue => {
    const planOfValue = (name: string, type: AnyType, required: boolean): Plan => {
      // Not as `required: false`: a client could send a header or a cookie elsewhere.
      const given = { required: required && !isOptional(type), fallback: false };
      try {
        return planOfOne(specOf(kind, name, type, given), codecs, options);
      } catch {
        // Every value gets 400, like an invalid one: the handler must not run without it.
        return planOfOne(specOf(kind, name, UNREADABLE, given), codecs, options);
      }
    };
    const known = new WeakMap<object, Map<string, Plan>>();
    const read = (req: Request, name: string, type: AnyType, given: ValueOptions = {}): unknown => {
      checkOptions(reader, given, { required: boolean });
      assertType(type);
      const { required = true } = given;
      const plans = known.get(type) ?? new Map<string, Plan>();
      const plan = plans.get(`${required} ${name}`) ?? planOfValue(name, type, required);
      known.set(type, plans.set(`${required} ${name}`, plan));
      try {
        const context = new BinderContext(req, req.res as Response, { Dto: type, options, plan }, { kind: 'none' });
        const value = bindDeclared(context);
        if (!isPromise(value)) return value;
        ignoreRejection(value);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (!required && error.code === 'validation-failed') return undefined;
        throw answerInHandler(error, req, answering);
      }
      throw new TypeError(`${reader}: the type of "${name}" is read asynchronously; bind it with bindRequest().`);
    };
    return read as ReadValue;
  };
  return {
    routeValue: readerOf('routeValue', 'routeParam'),
    queryValue: readerOf('queryValue', 'queryParam'),
    headerValue: readerOf('headerValue', 'fromHeader'),
    cookieValue: readerOf('cookieValue', 'fromCookie'),
  };
}
