import type { Request, Response } from 'express';
import { isPromise } from '../basics/awaitable';
import { boolean, checkOptions } from '../options/check';
import { answerInHandler, type Answering } from '../problems/answer';
import { Problem } from '../problems/problem';
import { warnOnce } from '../warnings/warn-once';
import { namingErrors } from './declaration/declaration-error';
import { BinderContext } from './input/binder-context';
import type { ResolvedOptions } from './input/endpoint';
import { CodecTable } from './plan/codec-table';
import type { SourceProperty } from './plan/source-properties';
import { cookie } from './sources/cookie';
import { header } from './sources/header';
import { query } from './sources/query';
import { queryOf, RequestInput, type ValueSource } from './sources/request-input';
import { route } from './sources/route';
import { assertType } from './types/assert-type';
import type { Codec } from './types/codec';
import { isOptional, type AnyType, type IfRequired, type Infer } from './types/property-type';
import { readNothing } from './types/read-json';

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

/** Makes the readers for an application's options. */
export function valueReaders(options: ResolvedOptions, answering?: Answering): ValueReaders {
  const codecs = new CodecTable(options.serializer, options.valueParsers);
  const readerOf = (source: ValueSource, kind: SourceProperty['spec']['kind']): ReadValue => {
    const reader = `${source.name}Value`;
    const read = (req: Request, name: string, type: AnyType, given: ValueOptions = {}): unknown => {
      if (typeof (req as unknown) !== 'object' || typeof name !== 'string')
        throw new TypeError(`${reader} takes the request and a name first: ${reader}(req, 'id', guid).`);
      checkOptions(reader, given, { required: boolean });
      const { required = true } = given;
      const context = new BinderContext(req, req.res as Response, { Dto: type, options, plan: undefined });
      const codec = codecOf(type, name, codecs, reader);
      const property: SourceProperty = {
        ...{ property: name, name, bindName: name, jsonName: name, anyCase: name.toLowerCase() },
        ...{ index: 0, codec, required: required && !isOptional(type), jsonRequired: false, dontBind: [] },
        ...{ isRoot: false, spec: { kind, type, required } },
      };
      try {
        const value = valueOf(property, source, context);
        if (required) context.refuseFailures();
        return context.failures.length > 0 ? undefined : value;
      } catch (error) {
        throw error instanceof Problem ? answerInHandler(error, req, answering) : error;
      }
    };
    return read as ReadValue;
  };
  return {
    routeValue: readerOf(route, 'routeParam'),
    queryValue: readerOf(query, 'queryParam'),
    headerValue: readerOf(header, 'fromHeader'),
    cookieValue: readerOf(cookie, 'fromCookie'),
  };
}

/** Reads a value as the only property of a dto. */
function valueOf(property: SourceProperty, source: ValueSource, context: BinderContext): unknown {
  const found = context.foundOn<unknown[]>([]);
  const pairs = source === query ? queryKeptOf(context) : undefined;
  source.read(new RequestInput(context, { kind: 'none' }, pairs), [property], found);
  if (!found.has(0))
    found.put(0, readNothing(property, context.locationOf(source.name, property.name), source.missing));
  if (isPromise(context.settle())) {
    const type = `the type of ${JSON.stringify(property.name)}`;
    throw new TypeError(`${source.name}Value: ${type} is read asynchronously; bind it with bindRequest().`);
  }
  return found.target[0];
}

/** The query that was read last of each request: a handler may ask for many values one by one. */
const lastQuery = new WeakMap<Request, { readonly url: string; readonly pairs: ReturnType<typeof queryOf> }>();

function queryKeptOf({ req, endpoint }: BinderContext): ReturnType<typeof queryOf> {
  const last = lastQuery.get(req);
  if (last?.url === req.url) return last.pairs;
  const pairs = queryOf(req, endpoint.options.limits.fields);
  lastQuery.set(req, { url: req.url, pairs });
  return pairs;
}

/**
 * Returns the codec of a type, or one that refuses every value. A value whose type cannot be read gets 400, like an
 * invalid one: the handler must not run without it. No client can correct that, so a warning tells the application.
 */
function codecOf(type: AnyType, name: string, codecs: CodecTable, reader: string): Codec {
  namingErrors(`${reader}: the type of ${JSON.stringify(name)}`, () => {
    assertType(type);
  });
  try {
    return codecs.complete(type);
  } catch (error) {
    warnOnce(
      'BINDONCE_UNREADABLE_TYPE',
      `bindonce: ${reader}(req, ${JSON.stringify(name)}) has a type that cannot be read, so it is refused ` +
        `with 400, or undefined with required: false. ${(error as Error).message}`,
      `${reader} ${name}`,
    );
    return unreadable;
  }
}

/** Codec of a type that cannot be read: every value is refused, as an invalid one is. */
const unreadable: Codec = {
  kind: 'scalar',
  name: 'value of a type that can be read',
  text: () => undefined,
};
