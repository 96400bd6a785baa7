import type { Request, Response } from 'express';
import type { ProblemLocation } from '../problems/problem';
import type { Body } from './body';
import type { Settings } from './options';
import { Failures, Place } from './place';
import type { Plan } from './plan';

/** One request that is being bound. */
export class BinderContext {
  private readonly noted: Failures;

  constructor(readonly req: Request, readonly res: Response, readonly plan: Plan, readonly settings: Settings, readonly body: Body) {
    this.noted = new Failures(settings.limits.failures);
  }

  get failures() {
    return this.noted.list;
  }

  /** Where a value was looked up: failures are reported under it. */
  at(source: ProblemLocation, name: string, pointer?: string): Place {
    return new Place(this.noted, source, name, this.settings.limits.items, pointer);
  }
}
