import type { Request, Response } from 'express';
import type { ProblemLocation } from '../../problems/problem';
import type { Endpoint } from './endpoint';
import { Failures, validationProblem, type BindingFailure } from '../reading/failures';
import { Location } from '../reading/location';
import { lookupOf, namesBelow, type Lookup } from '../plan/lookup';
import type { SerializerOptions } from '../types/serializer-options';
import type { AnyType } from '../types/property-type';

/** SPEC's binder context: one request that is being bound. */
export class BinderContext<T = unknown> {
  /** The type of what is bound; there is no such value. */
  declare readonly bound?: T;
  private readonly noted: Failures;

  constructor(
    readonly req: Request,
    readonly res: Response,
    /** @internal */
    readonly endpoint: Endpoint,
  ) {
    const { limits, quoteValues } = endpoint.settings;
    this.noted = new Failures(limits, quoteValues);
  }

  /** What `bindRequest()` was given: a dto class, `list(Dto)`, or a schema. */
  get Dto(): AnyType {
    return this.endpoint.Dto;
  }

  /** How JSON is read and written at this endpoint. */
  get serializerOptions(): SerializerOptions {
    return this.endpoint.settings.serializer;
  }

  /** What is known to be wrong with the request. When something is, the answer is 400, whoever wrote the binder. */
  get failures(): readonly BindingFailure[] {
    return this.noted.list;
  }

  /**
   * Adds a failure.
   * @param name what is wrong: a property of the dto, or a path like `items[0].sku`; it is reported under the name that the client knows it by.
   * @param reason a sentence for the client.
   * @param where where the client has sent it. Default: where a property of that name comes from, else the body.
   */
  fail(name: string, reason: string, where?: ProblemLocation): void {
    const { plan } = this.endpoint;
    const [property = '', ...path] = name.split(/[.[\]]+/).filter(part => part !== '');
    const known = plan && lookupOf(property, plan, this.req);
    const lookup: Lookup =
      known && (where === undefined || where === known.source) ? known : { source: where ?? 'body', name: property };
    const location = this.locationOf(lookup.source, lookup.name);
    for (const part of namesBelow(path, lookup)) location.enter(part);
    location.fail('application', reason);
  }

  /** @throws a problem that lists the failures, if there are any. */
  refuseFailures(): void {
    const {
      failures,
      req,
      endpoint: {
        settings: { failureMessage },
      },
    } = this;
    if (failures.length > 0) throw validationProblem(failures, failure => failureMessage?.(failure, req));
  }

  /** @internal Where a value is looked up: failures are reported under it. */
  locationOf(source: ProblemLocation, name: string): Location {
    return source === 'json' ? Location.inJson(this.noted, name) : new Location(this.noted, source, name);
  }
}
