import type { Layer } from './express-layers';
import type { PathTemplate } from './path-templates';

/** Values of path parameters for which a middleware's own path is tried: it may take digits or a GUID only. */
const SAMPLES = ['any-7f3a', '7305196842', '3f2504e0-4f89-11d3-9a0c-0305e82c3301'];

/** Returns true if requests for a path meet a layer, for some value of its parameters. */
export const matches = (layer: Layer, path: string): boolean =>
  layer.slash === true || layer.regexp?.fast_slash === true || matchesOf(layer, path).length > 0;

/** Returns true if a layer is mounted at a path, and not only before it. */
export const isMountedAt = (layer: Layer, path: string): boolean =>
  matchesOf(layer, path).some(([sent, matched]) => sent === matched);

/**
 * Returns true if a layer that is mounted at a path takes more of a longer one than that, so that requests for the
 * longer one do not get to it: mounted at `/m{/:o}`, it takes all of `/m/x`.
 */
export function takesMore(layer: Layer, mountedAt: PathTemplate, path: string): boolean {
  const taken = matchesOf(layer, path).map(([, matched]) => segmentsOf(matched));
  return taken.length > 0 && taken.every(one => one > segmentsOf(mountedAt.path));
}

const segmentsOf = (path: string): number => path.split('/').filter(Boolean).length;

/** Returns the paths that are tried, each with the part of it that a layer takes. */
function matchesOf({ regexp, matchers = [] }: Layer, path: string): (readonly [sent: string, matched: string])[] {
  return SAMPLES.flatMap(sample => {
    const sent = path.replace(/\{[^}]*\}/g, sample);
    const found = regexp
      ? [new RegExp(regexp).exec(sent)?.[0]]
      : matchers.map(match => (match(sent) || undefined)?.path);
    return found.flatMap(matched => (matched === undefined ? [] : [[sent, matched] as const]));
  });
}
