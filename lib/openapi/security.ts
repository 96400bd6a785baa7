import type { Endpoint } from '../binding/bind-request';
import type { SecurityRequirement } from '../binding/options';
import type { SourceProperty } from '../binding/plan/plan';
import type { OpenApiOptions } from './openapi-options';

const ANYONE: SecurityRequirement = {};
const isAnyone = (one: SecurityRequirement): boolean => Object.keys(one).length === 0;

/** How callers of the operations of one document authenticate. */
export class Security {
  private readonly defined: Readonly<Record<string, object>>;
  private isUsed: boolean;

  /** @throws TypeError for the name of a scheme that is not defined. */
  constructor(private readonly options: Pick<OpenApiOptions, 'securityScheme' | 'securitySchemes' | 'security'>) {
    const { securityScheme, securitySchemes, security = [] } = options;
    const caller = securityScheme ?? (securitySchemes ? undefined : { type: 'http', scheme: 'bearer' });
    this.defined = { ...(caller && { caller }), ...securitySchemes };
    this.isUsed = (securityScheme ?? securitySchemes) !== undefined;
    this.checked(security);
  }

  /** The schemes of the document. The scheme that is there by default is left out if no operation takes it. */
  get schemes(): Readonly<Record<string, object>> | undefined {
    return this.isUsed ? this.defined : undefined;
  }

  /**
   * Returns the requirements of one operation; undefined where those of the document apply.
   * @throws TypeError for the name of a scheme that is not defined.
   */
  of(endpoint: Endpoint | undefined): readonly SecurityRequirement[] | undefined {
    if (!endpoint) return undefined;
    const { security = Object.keys(this.defined).map(name => ({ [name]: [] })) } = this.options;
    const isForAll = this.options.security !== undefined;
    const { security: own } = endpoint.operation;
    if (own) return this.checked(own);
    // Those that let no anonymous caller in.
    const ofCallers = security.filter(one => !isAnyone(one));
    if (needsCaller(endpoint))
      return isForAll && ofCallers.length === security.length ? undefined : this.checked(ofCallers);
    if (isForAll && endpoint.allowAnonymous !== true) return undefined;
    if (boundOf(endpoint).length > 0) return [ANYONE, ...this.checked(ofCallers)];
    return endpoint.allowAnonymous === true ? [] : undefined;
  }

  private checked(requirements: readonly SecurityRequirement[]): readonly SecurityRequirement[] {
    const names = Object.keys(this.defined);
    for (const name of requirements.flatMap(one => Object.keys(one))) {
      const known = names.length === 0 ? '`securitySchemes` is empty.' : `there are: ${names.join(', ')}.`;
      if (!names.includes(name))
        throw new TypeError(`\`security\` names the scheme ${JSON.stringify(name)}, which is not defined; ${known}`);
      this.isUsed = true;
    }
    return requirements;
  }
}

/** Returns what an endpoint binds of its caller. */
const boundOf = ({ plan }: Endpoint): readonly SourceProperty[] =>
  (['claim', 'permission'] as const).flatMap(source => plan?.sourceProperties.get(source) ?? []);

/** Returns true if the endpoint refuses anonymous callers: it says so, or requires a claim or a permission. */
const needsCaller = (endpoint: Endpoint): boolean =>
  !endpoint.options.allowAnonymous || boundOf(endpoint).some(({ required }) => required);
