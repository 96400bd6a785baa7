import type { Request, Response } from 'express';
import { isPromise } from '../../basics/awaitable';
import type { Claims } from '../../principal/principal';
import type { ProblemLocation } from '../../problems/problem';
import { lookupOf, type Plan, type SourceDefaults, type SourceProperty } from '../plan/plan';
import { Failures, Location, validationProblem, type BindingFailure } from '../reading/failures';
import { failBelow, partsOfPath } from '../types/read';
import type { AnyType } from '../types/property-type';
import type { ResponseTypes, SerializerOptions, ValueParser } from '../types/serializer';
import type { Body, BodyOptions } from './body';

/** How one endpoint reads requests and writes responses: its options, with all defaults filled in. */
export interface ResolvedOptions extends SourceDefaults, BodyOptions {
  readonly allowAnonymous: boolean;
  readonly claims: (req: Request) => Claims | undefined;
  readonly permissions: (req: Request) => Iterable<string>;
  readonly valueParsers: readonly ValueParser[];
  readonly serializer: Readonly<Required<SerializerOptions>>;
  readonly responses: ResponseTypes;
  /** True if a dto in a response is written by its own declaration, because there is a naming policy or a converter. */
  readonly writesInstances: boolean;
  readonly failureMessage: ((failure: BindingFailure, req: Request) => string | undefined) | undefined;
  readonly quoteValues: boolean;
}

/** What binding a request needs to know about its endpoint. */
export interface BoundEndpoint {
  readonly Dto: AnyType;
  readonly options: ResolvedOptions;
  /** Undefined if the application's own binder makes the dto, from a class without declarations. */
  readonly plan: Plan | undefined;
}

/** One request that is being bound. */
export class BinderContext<T = unknown> {
  /** Carries the type of the dto; it has no value at run time. */
  declare readonly bound?: T;
  /** @internal */
  readonly noted: Failures;
  /** @internal The values of the plan's members, each of the last source that has one. */
  values: unknown[] = [];

  constructor(
    /** The request that is being bound. */
    readonly req: Request,
    /** Its response. If the binder or the modifier ends it, that is the answer. */
    readonly res: Response,
    /** @internal */
    readonly endpoint: BoundEndpoint,
    /** @internal The body, once it has been read. */
    public body?: Body,
  ) {
    const { plan, options } = endpoint;
    const nameOfBody = plan?.wholeBody && !plan.body.text ? plan.wholeBody.bindName : '';
    this.noted = new Failures(options.limits, options.quoteValues, options.unknownNames === 'refuse', nameOfBody);
  }

  /** @internal Takes the value that a source has for a property, over that of an earlier one; undefined is none. */
  put({ index }: SourceProperty, value: unknown): void {
    if (value === undefined) return;
    this.values[index] = value;
    // Its failure counts even if a later source replaces the value.
    if (isPromise(value)) this.noted.later(value, () => undefined);
  }

  /** @internal Where a source has the value of a property. */
  at({ source, name }: SourceProperty): Location {
    return Location.of(this.noted, source, name);
  }

  /** The argument of `bindRequest()`: a dto class, `list(Dto)`, or a schema. */
  get Dto(): AnyType {
    return this.endpoint.Dto;
  }

  /** How JSON is read and written at this endpoint. */
  get serializerOptions(): SerializerOptions {
    return this.endpoint.options.serializer;
  }

  /**
   * The failures reported so far. If there are any, the response is 400, even if the binder is the application's own.
   */
  get failures(): readonly BindingFailure[] {
    return this.noted.list;
  }

  /**
   * Adds a failure.
   * @param name the property of the dto, or a path like `items[0].sku`; it is reported under the client's name for it
   * in that source.
   * @param reason a sentence for the client.
   * @param where the source that the client used. Default: the one in which this client would send the property. That
   * is the claim, header or cookie that it is declared as; or the path, if it has a parameter of that name; or the
   * query of a GET or HEAD, the fields of a form, the JSON of any other request; or else, if it cannot be bound from
   * there, the last of its sources. A name that is no property is reported in `body`.
   */
  fail(name: string, reason: string, where?: ProblemLocation): void {
    const { plan } = this.endpoint;
    const [property = '', ...path] = partsOfPath(name);
    const found = plan && lookupOf(property, plan, this.req, where);
    const at = found ? this.at(found) : Location.of(this.noted, where ?? 'body', property);
    failBelow(at, path, found?.codec, reason);
  }

  /** @throws a problem that lists the failures, if any. */
  refuseFailures(): void {
    const { noted, req, body } = this;
    if (noted.list.length === 0) return;
    const { failureMessage } = this.endpoint.options;
    const isNull = body?.kind === 'json' && body.value === null;
    const emptyBody = body?.kind === 'none' ? 'the request has no body' : isNull ? 'the body is null' : undefined;
    throw validationProblem(noted, failure => failureMessage?.(failure, req), emptyBody);
  }
}

/**
 * Makes the dto of a request. Invalid values are reported with `context.fail()`. A `Problem` that it throws is the
 * answer, or goes to `onProblem`; any other error goes to Express.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- A binder of no stated type is for any endpoint.
export interface Binder<T = any> {
  /**
   * @param signal aborts when the client disconnects, except behind `idempotency()`, where the work continues for the
   * retry.
   */
  bind(context: BinderContext<T>, signal: AbortSignal): T | Promise<T>;
}

/**
 * Changes or checks a bound dto. In `configure()`, where it is called for all endpoints, the dto is unknown; a modifier
 * may declare the type that it expects.
 * @param signal the same signal as the binder's.
 */
export type Modifier<T = unknown> = ModifierOf<T>['modify'];

/**
 * TypeScript compares the parameters of a method in both directions: `(dto: PlaceOrder) => …` is also a modifier of
 * unknown dtos.
 */
interface ModifierOf<T> {
  modify(dto: T, Dto: AnyType, context: BinderContext, signal: AbortSignal): void | Promise<void>;
}
