/** Makes the JSON name of a property out of its name. */
export type NamingPolicy = (name: string) => string;

export type NamingPolicyName = 'camelCase' | 'snake_case' | 'kebab-case' | 'PascalCase';

/** The words of a name: `customerID` is customer, ID; `URLPath` is URL, Path; digits belong to the word before them. */
const words = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_-]+/)
    .filter(word => word !== '');

export const namingPolicies: Readonly<Record<NamingPolicyName, NamingPolicy>> = {
  /** The capitals that a name begins with become small: `CustomerId` is customerId, `URLPath` is urlPath. */
  camelCase: name => name.replace(/^[A-Z]+(?![a-z])|^[A-Z]/, start => start.toLowerCase()),
  snake_case: name => words(name).join('_').toLowerCase(),
  'kebab-case': name => words(name).join('-').toLowerCase(),
  PascalCase: name =>
    words(name)
      .map(word => word.charAt(0).toUpperCase() + word.slice(1))
      .join(''),
};
