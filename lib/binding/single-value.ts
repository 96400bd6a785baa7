import type { Request } from 'express';
import { isPromise } from '../basics/awaitable';
import { boolean, checkOptions } from '../options/check';
import { answerInHandler } from '../problems/answer-in-handler';
import type { Answering } from '../problems/answer';
import { Problem } from '../problems/problem';
import { warnOnce } from '../warnings/warn-once';
import { neverThrowing } from './reading/compile';
import { Failures, validationProblem } from './reading/failures';
import { Location, withoutMark } from './reading/location';
import { readNothing, type Expected } from './types/read-value';
import type { ResolvedOptions } from './input/resolved-options';
import { cookie, readCookie } from './sources/cookie';
import { header, readHeader } from './sources/header';
import { query, readQueryParameter } from './sources/query';
import { readRouteParameter, route } from './sources/route';
import type { ValueSource } from './sources/value-source';
import { namingErrors } from './declaration/declaration-error';
import type { Source } from './declaration/property';
import type { Codec } from './types/codec';
import { CodecTable } from './plan/codec-table';
import { assertType } from './types/assert-type';
import { isOptional, type AnyType, type Infer } from './types/property-type';

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
) => O extends { required: infer R } ? (R extends true | undefined ? Infer<X> : Infer<X> | undefined) : Infer<X>;

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

/** Makes the readers for an application's options. */
export function valueReaders(options: ResolvedOptions, answering?: Answering): ValueReaders {
  // Codecs are made for a request, which must not fail because generated contexts are stale.
  const contexts = neverThrowing(options.serializer.contexts);
  const codecs = new CodecTable({ ...options.serializer, contexts }, options.valueParsers);
  const codecOf = (type: AnyType, source: Source, name: string): Codec<unknown> => {
    namingErrors(`${source}Value: the type of ${JSON.stringify(name)}`, () => assertType(type));
    try {
      return codecs.complete(type);
    } catch (error) {
      // A value whose type has no parser gets 400, like an invalid one, because bindonce is specified so. It is a
      // mistake of the application all the same, which no client can correct, so a warning tells the application.
      warnOnce(
        'BINDONCE_UNREADABLE_TYPE',
        `bindonce: ${source}Value(req, ${JSON.stringify(name)}) has a type that cannot be read, so it is refused ` +
          `with 400, or undefined with required: false. ${(error as Error).message}`,
      );
      return unreadable;
    }
  };
  type ReadSent = (expected: Expected, name: string, req: Request, location: Location) => unknown;
  const readerOf = ({ source, missing }: ValueSource, readSent: ReadSent) => {
    const read = (req: Request, name: string, type: AnyType, { required = true }: ValueOptions): unknown => {
      const sourceProperty = {
        codec: codecOf(type, source, name),
        required: required && !isOptional(type),
      };
      const failures = new Failures(options.limits, options.quoteValues);
      const location = new Location(failures, source, name);
      const value = readSent(sourceProperty, name, req, location) ?? readNothing(sourceProperty, location, missing);
      if (isPromise(value))
        throw new TypeError(
          `${source}Value: the type of ${JSON.stringify(name)} is read asynchronously; bind it with bindRequest().`,
        );
      if (failures.list.length === 0) return withoutMark(value);
      if (required) throw validationProblem(failures, failure => options.failureMessage?.(failure, req));
      return undefined;
    };
    return (req: Request, name: string, type: AnyType, given: ValueOptions = {}): unknown => {
      if (typeof (req as unknown) !== 'object' || typeof name !== 'string')
        throw new TypeError(`${source}Value takes the request and a name first: ${source}Value(req, 'id', guid).`);
      checkOptions(`${source}Value`, given, { required: boolean });
      try {
        return read(req, name, type, given);
      } catch (error) {
        throw error instanceof Problem ? answerInHandler(error, req, answering) : error;
      }
    };
  };
  return {
    routeValue: readerOf(route, readRouteParameter) as ReadValue,
    queryValue: readerOf(query, readQueryParameter) as ReadValue,
    headerValue: readerOf(header, (expected, name, req, location) =>
      readHeader(expected, name, req, () => location),
    ) as ReadValue,
    cookieValue: readerOf(cookie, (expected, name, req, location) =>
      readCookie(expected, name, req, () => location),
    ) as ReadValue,
  };
}

/** Codec of a type that cannot be read: every value is refused, as an invalid one is. */
const unreadable: Codec<unknown> = {
  name: 'value of a type that can be read',
  shape: 'scalar',
  fromText: ([text], location) => location.failValue(text, unreadable.name),
  fromJson: (value, location) => location.failValue(value, unreadable.name),
};
