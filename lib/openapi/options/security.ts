import type { Endpoint } from '../../binding/endpoint';
import type { SecurityRequirement } from '../../binding/operation-options';
import type { OpenApiOptions } from './openapi-options';

/** The options that say how callers authenticate. */
type SecurityOptions = Pick<OpenApiOptions, 'securityScheme' | 'securitySchemes' | 'security'>;

const ANYONE: SecurityRequirement = {};
const isAnyone = (one: SecurityRequirement): boolean => Object.keys(one).length === 0;

/** How callers of the operations of one document authenticate. */
export class Security {
  private readonly defined: Readonly<Record<string, object>>;
  private readonly used = new Set<string>();

  /** @throws TypeError for the name of a scheme that is not defined. */
  constructor(private readonly options: SecurityOptions) {
    const { securityScheme, securitySchemes, security } = options;
    const caller = securityScheme ?? (securitySchemes ? undefined : { type: 'http', scheme: 'bearer' });
    this.defined = { ...(caller && { caller }), ...securitySchemes };
    if (security) this.checked(security);
  }

  /** The schemes of the document. The scheme that is there by default is left out if no operation takes it. */
  get schemes(): Readonly<Record<string, object>> {
    const { securityScheme, securitySchemes } = this.options;
    return (securityScheme ?? securitySchemes ?? this.used.has('caller')) ? this.defined : {};
  }

  /**
   * Returns the requirements of one operation; undefined where those of the document apply.
   * @throws TypeError for the name of a scheme that is not defined, and if it is not known which scheme applies.
   */
  of(endpoints: readonly Endpoint[]): readonly SecurityRequirement[] | undefined {
    const last = endpoints.at(-1);
    const { security: own } = last?.operation ?? {};
    if (own) return this.checked(own);
    const { security } = this.options;
    if (endpoints.some(needsCaller)) return security?.some(isAnyone) === false ? undefined : this.ofCallers();
    if (last?.allowAnonymous === true) return endpoints.some(readsCaller) ? [ANYONE, ...this.ofCallers()] : [];
    return security === undefined && endpoints.some(readsCaller) ? [ANYONE, ...this.ofCallers()] : undefined;
  }

  /** Returns the requirements that let no anonymous caller in. */
  private ofCallers(): readonly SecurityRequirement[] {
    const { security } = this.options;
    if (security) return security.filter(one => !isAnyone(one));
    const [only, ...others] = Object.keys(this.defined);
    if (only === undefined || others.length > 0)
      throw new TypeError(
        'it authenticates callers, but which security scheme applies is not known. Pass `security` to openapi(), ' +
          `or in the option \`openapi\` of this endpoint; ${this.names}.`,
      );
    return this.checked([{ [only]: [] }]);
  }

  private checked(requirements: readonly SecurityRequirement[]): readonly SecurityRequirement[] {
    for (const name of requirements.flatMap(one => Object.keys(one))) {
      if (!Object.hasOwn(this.defined, name))
        throw new TypeError(
          `\`security\` names the scheme ${JSON.stringify(name)}, which is not defined; ${this.names}.`,
        );
      this.used.add(name);
    }
    return requirements;
  }

  private get names(): string {
    const names = Object.keys(this.defined);
    return names.length === 0 ? '`securitySchemes` is empty' : `there are: ${names.join(', ')}`;
  }
}

/** Returns true if the endpoint refuses anonymous callers: it says so, or requires a claim or a permission. */
function needsCaller({ options, plan }: Endpoint): boolean {
  return (
    !options.allowAnonymous ||
    (['claim', 'permission'] as const).some(source =>
      plan?.sourceProperties.get(source)?.some(({ required }) => required),
    )
  );
}

/** Returns true if the endpoint binds a claim or a permission of callers who have one. */
const readsCaller = ({ plan }: Endpoint): boolean =>
  plan?.sourceProperties.has('claim') === true || plan?.sourceProperties.has('permission') === true;
