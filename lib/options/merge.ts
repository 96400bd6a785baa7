import { entriesOf } from './entries';

/** Merges options over their defaults. An option that is `undefined` counts as absent. */
export function withDefaults<D extends object, G extends object>(defaults: D, given: G): D & G {
  return { ...defaults, ...Object.fromEntries(entriesOf(given).filter(([, value]) => value !== undefined)) } as D & G;
}
