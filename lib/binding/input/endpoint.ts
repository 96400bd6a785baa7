import type { Plan } from '../plan/plan';
import type { ResolvedOptions } from './resolved-options';
import type { AnyType } from '../types/property-type';

/** What one `bindRequest()` was made with. */
export interface Endpoint {
  readonly Dto: AnyType;
  readonly settings: ResolvedOptions;
  /** Undefined where the application's own binder makes the dto, of a class without declarations. */
  readonly plan: Plan | undefined;
}
