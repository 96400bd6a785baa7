import { declareProperty } from './declarations';
import { defaultOf, type PropertyKind, type PropertySpec } from './property';

/** Makes the value of a field of a new instance. */
type Initialise = (initial: unknown) => unknown;

/**
 * Declares the property of a decorated field. Standard decorators pass a context, legacy ones the prototype and the
 * name.
 */
export function decorate(
  kind: PropertyKind,
  declaredAs: (name: string, shown?: string) => PropertySpec,
): (target: unknown, context: unknown, descriptor?: PropertyDescriptor) => Initialise | undefined {
  return (target, context, descriptor) => {
    if (isFieldContext(context)) {
      const { name, metadata } = context as { name: string | symbol; metadata?: DecoratorMetadata };
      if (typeof name !== 'string' || context.static || context.private) throw notBindable(kind, name);
      // Whatever its type says, the context has none if the compiler is older than decorator metadata.
      if (!metadata)
        throw new TypeError(
          `${kind}: the decorator of ${name} got no context.metadata: the compiler of this class does not ` +
            "implement decorator metadata. Use TypeScript 5.2, esbuild 0.21.3 or Babel's decorators of version " +
            '2023-05, or later ones; or legacy decorators; or dto({...}), which works everywhere',
        );
      const spec = declaredAs(name);
      declareProperty(metadata, name, spec);
      return spec.default === undefined ? undefined : initial => (initial === undefined ? defaultOf(spec) : initial);
    }
    const isMethod = descriptor?.value !== undefined || descriptor?.get !== undefined || descriptor?.set !== undefined;
    if (!isFieldName(context) || isMethod)
      throw new TypeError(`${kind} was used on ${decorated(target, context, descriptor)}; use it on a class field`);
    if (typeof context !== 'string' || typeof target !== 'object' || target === null) throw notBindable(kind, context);
    declareProperty(target.constructor, context, declaredAs(context, `${target.constructor.name}.${context}`));
    return undefined;
  };
}

/** Makes the error for a field that is static or private, or whose name is a symbol. */
const notBindable = (kind: PropertyKind, name: string | symbol): TypeError =>
  new TypeError(`${kind}: only public instance properties with a plain name can be bound, not ${String(name)}`);

/** Names what was decorated instead of a field. */
function decorated(target: unknown, context: unknown, descriptor: PropertyDescriptor | undefined): string {
  if (typeof context === 'object' && context !== null) {
    const { kind, name } = context as Pick<DecoratorContext, 'kind' | 'name'>;
    return `the ${kind} \`${String(name)}\``;
  }
  if (isFieldName(context)) return `the ${descriptor?.value ? 'method' : 'accessor'} \`${String(context)}\``;
  return typeof target === 'function' ? `the class \`${target.name}\`` : 'nothing';
}

const isFieldName = (context: unknown): context is string | symbol =>
  typeof context === 'string' || typeof context === 'symbol';

function isFieldContext(context: unknown): context is ClassFieldDecoratorContext {
  return typeof context === 'object' && context !== null && (context as { kind?: unknown }).kind === 'field';
}
