import { freeName } from '../names/free-name';

/** A parameter of a path. */
export interface PathParameter {
  /** Its name in the document. */
  readonly name: string;
  /** Its name in `req.params`; undefined where the route does not see it, below a router without `mergeParams`. */
  readonly key: string | undefined;
  /** True if it takes several segments. */
  readonly isWildcard?: boolean;
}

/** A path as OpenAPI writes it, `/orders/{id}`, and its parameters. */
export interface PathTemplate {
  readonly path: string;
  readonly parameters: readonly PathParameter[];
}

export const rootTemplate: PathTemplate = { path: '', parameters: [] };

/** Joins two paths. A parameter of the first one whose name the second has, too, gets another name and is not seen. */
export function joined(one: PathTemplate, other: PathTemplate): PathTemplate {
  const taken = new Set([...one.parameters, ...other.parameters].map(({ name }) => name));
  let { path } = one;
  const first = one.parameters.map((parameter): PathParameter => {
    if (!other.parameters.some(({ name }) => name === parameter.name)) return parameter;
    const name = freeName(parameter.name, one => taken.has(one));
    taken.add(name);
    path = path.replace(`{${parameter.name}}`, () => `{${name}}`);
    return { name, key: undefined };
  });
  return {
    path: `${path}${other.path}`.replace(/\/{2,}/g, '/'),
    parameters: [...first, ...other.parameters],
  };
}

/** Gives a path the spelling and the names of another one, which differs in nothing else. */
export function renamed({ parameters }: PathTemplate, { path, parameters: names }: PathTemplate): PathTemplate {
  return { path, parameters: parameters.map((one, at) => ({ ...one, name: names[at]?.name ?? one.name })) };
}

/** Hides the parameters from routes below, as a router without `mergeParams` does. */
export const hidden = ({ path, parameters }: PathTemplate): PathTemplate => ({
  path,
  parameters: parameters.map(({ name }) => ({ name, key: undefined })),
});

/** Returns the rest of a path below a prefix, whose parameters may have other names there. */
export function below({ path, parameters }: PathTemplate, prefix: PathTemplate): PathTemplate {
  const { length } = prefix.path.replace(/\/$/, '').split('/');
  return {
    path: `/${path.split('/').slice(length).join('/')}`,
    parameters: parameters.slice(prefix.parameters.length),
  };
}

/** Returns the path without the names of its parameters: Express takes `/:id` and `/:order` for one path. */
export const shapeOf = ({ path }: PathTemplate): string => path.replace(/\{[^}]*\}/g, '{}');

/** Leaves one template of each shape, the last: of `{/:a}{/:b}`, Express fills the first part. */
export const distinct = (templates: readonly PathTemplate[]): PathTemplate[] => [
  ...new Map(templates.map(one => [shapeOf(one), one])).values(),
];
