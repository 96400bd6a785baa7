import type { Request } from 'express';
import { isPromise } from '../basics/awaitable';
import { boolean, checkOptions } from '../options/check';
import { answerInHandler } from '../problems/answer-in-handler';
import type { Answering } from '../problems/answer';
import { Problem } from '../problems/problem';
import { warnOnce } from '../warnings/warn-once';
import { Failures, validationProblem } from './reading/failures';
import { Location, withoutMark } from './reading/location';
import { readNothing, type Expected } from './types/read-json';
import type { ResolvedOptions } from './input/resolved-options';
import { cookie, readCookie } from './sources/cookie';
import { header, readHeader } from './sources/header';
import { query, readQueryParameter } from './sources/query';
import { readRouteParameter, route } from './sources/route';
import type { ValueSource } from './sources/value-source';
import { namingErrors } from './declaration/declaration-error';
import type { Codec } from './types/codec';
import { CodecTable } from './plan/codec-table';
import { assertType } from './types/assert-type';
import { isOptional, type AnyType, type IfRequired, type Infer } from './types/property-type';

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
  const readerOf = (source: ValueSource, readSent: ReadSent): ReadValue => {
    const reader = new SingleValueReader(source, readSent, codecs, options, answering);
    return ((...given: Parameters<SingleValueReader['read']>) => reader.read(...given)) as ReadValue;
  };
  return {
    routeValue: readerOf(route, readRouteParameter),
    queryValue: readerOf(query, readQueryParameter),
    headerValue: readerOf(header, (expected, name, req, location) => readHeader(expected, name, req, () => location)),
    cookieValue: readerOf(cookie, (expected, name, req, location) => readCookie(expected, name, req, () => location)),
  };
}

/** Reads the value that was sent under a name; undefined if none was. */
type ReadSent = (expected: Expected, name: string, req: Request, location: Location) => unknown;

/** Reads single values from one source. */
class SingleValueReader {
  /** The public name of the reader, for messages. */
  private readonly publicName: string;

  constructor(
    private readonly source: ValueSource,
    private readonly readSent: ReadSent,
    private readonly codecs: CodecTable,
    private readonly options: ResolvedOptions,
    private readonly answering: Answering | undefined,
  ) {
    this.publicName = `${source.name}Value`;
  }

  /** Reads a value, and answers the request if it is refused. */
  read(req: Request, name: string, type: AnyType, given: ValueOptions = {}): unknown {
    const { publicName } = this;
    if (typeof (req as unknown) !== 'object' || typeof name !== 'string')
      throw new TypeError(`${publicName} takes the request and a name first: ${publicName}(req, 'id', guid).`);
    checkOptions(publicName, given, { required: boolean });
    try {
      return this.valueOf(req, name, type, given);
    } catch (error) {
      throw error instanceof Problem ? answerInHandler(error, req, this.answering) : error;
    }
  }

  /** @throws the problem that refuses the value. */
  private valueOf(req: Request, name: string, type: AnyType, { required = true }: ValueOptions): unknown {
    const { source, options } = this;
    const expected: Expected = { codec: this.lenientCodecOf(type, name), required: required && !isOptional(type) };
    const failures = new Failures(options.limits, options.quoteValues);
    const location = Location.at(failures, source.name, name);
    const sent = this.readSent(expected, name, req, location);
    const value = sent === undefined ? readNothing(expected, location, source.missing) : sent;
    if (isPromise(value) || isPromise(failures.settle()))
      throw new TypeError(`${this.typeOf(name)} is read asynchronously; bind it with bindRequest().`);
    if (failures.list.length === 0) return withoutMark(value);
    if (required) throw validationProblem(failures, failure => options.failureMessage?.(failure, req));
    return undefined;
  }

  /**
   * Returns the codec of a type, or one that refuses every value. A value whose type cannot be read gets 400, like an
   * invalid one: the handler must not run without it. No client can correct that, so a warning tells the application.
   */
  private lenientCodecOf(type: AnyType, name: string): Codec {
    namingErrors(this.typeOf(name), () => assertType(type));
    try {
      return this.codecs.complete(type);
    } catch (error) {
      warnOnce(
        'BINDONCE_UNREADABLE_TYPE',
        `bindonce: ${this.publicName}(req, ${JSON.stringify(name)}) has a type that cannot be read, so it is refused ` +
          `with 400, or undefined with required: false. ${(error as Error).message}`,
        `${this.publicName} ${name}`,
      );
      return unreadable;
    }
  }

  /** Names the type of a value, for messages. */
  private typeOf(name: string): string {
    return `${this.publicName}: the type of ${JSON.stringify(name)}`;
  }
}

/** Codec of a type that cannot be read: every value is refused, as an invalid one is. */
const unreadable: Codec = {
  kind: 'scalar',
  name: 'value of a type that can be read',
  text: () => undefined,
};
