import type { Plan } from '../plan/plan';
import type { AnyType } from '../types/property-type';
import type { ResolvedOptions } from './resolved-options';

/** The arguments of one `bindRequest()`, checked and prepared. */
export interface Endpoint {
  readonly Dto: AnyType;
  readonly options: ResolvedOptions;
  /** Undefined if the application's own binder makes the dto, from a class without declarations. */
  readonly plan: Plan | undefined;
}
