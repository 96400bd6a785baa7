import type { Request } from 'express';
import { readPairs, type Pair } from '../../body/content/urlencoded';
import { Problem, type ProblemLocation, type Source } from '../../problems/problem';
import type { BinderContext } from '../input/binder-context';
import type { Body } from '../input/body';
import type { Endpoint } from '../input/endpoint';
import type { ResolvedOptions } from '../input/endpoint';
import type { SourceProperty } from '../plan/source-properties';
import type { FoundValues } from '../reading/found-values';
import type { Location } from '../reading/location';

/** A source of values. */
export interface ValueSource {
  readonly name: Source;
  /** Reads the values that the request has for the properties; they overwrite values found before. */
  read(input: RequestInput, sourceProperties: readonly SourceProperty[], found: FoundValues): void;
  /** Message for a missing required value, if not the usual one. */
  readonly missing?: string;
}

/** A request whose body has been read: all that values are taken from. */
export class RequestInput {
  /** @param pairs the query, if it has been read before. */
  constructor(
    private readonly context: BinderContext,
    readonly body: Body,
    private pairs?: readonly Pair[],
  ) {}

  get req(): Request {
    return this.context.req;
  }

  get plan(): Endpoint['plan'] {
    return this.context.endpoint.plan;
  }

  get options(): ResolvedOptions {
    return this.context.endpoint.options;
  }

  /** The query. @throws a 414 problem for too many parameters. */
  get query(): readonly Pair[] {
    return (this.pairs ??= queryOf(this.req, this.options.limits.fields));
  }

  /** Why the body has no values; undefined if it may have some. */
  get emptyBody(): string | undefined {
    const { body } = this;
    if (body.kind === 'none') return 'the request has no body';
    return body.kind === 'json' && body.value === null ? 'the body is null' : undefined;
  }

  /** True if the JSON body as a whole has been refused. */
  get isJsonRefused(): boolean {
    return this.context.failures.some(failure => failure.in === 'json' && failure.pointer === '');
  }

  /** Makes the location of a value; failures are reported under it. An empty name is the whole JSON body. */
  locationOf(source: ProblemLocation, name: string): Location {
    return this.context.locationOf(source, name);
  }
}

/** Reads the query from the URL: the form of `req.query` depends on the application's query parser. */
export function queryOf({ url }: Request, limit: number): readonly Pair[] {
  const mark = url.indexOf('?');
  try {
    return mark < 0 ? [] : readPairs(url.slice(mark + 1), limit);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'body-too-large') throw error;
    throw new Problem('query-too-large', `There are more than ${limit} query parameters.`, { cause: error });
  }
}
