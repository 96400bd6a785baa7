/** Makes the JSON name of a property from its name. */
export type NamingPolicy = (name: string) => string;

/** A naming policy of bindonce, which is named as it writes names. */
export type NamingPolicyName = 'camelCase' | 'snake_case' | 'kebab-case' | 'PascalCase';

/**
 * Splits a name into words: `customerID` into customer, ID; `URLPath` into URL, Path. Digits belong to the word before
 * them, and underscores around the name to its first and its last word: `_id` and `id` are two names.
 */
const words = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/(?<!^_*)[\s_-](?!_*$)/);

export const namingPolicies: Readonly<Record<NamingPolicyName, NamingPolicy>> = {
  /** Makes the leading capitals small: `CustomerId` becomes customerId, `URLPath` becomes urlPath. */
  camelCase: name => name.replace(/^[A-Z]+(?![a-z])|^[A-Z]/, start => start.toLowerCase()),
  snake_case: name => words(name).join('_').toLowerCase(),
  'kebab-case': name => words(name).join('-').toLowerCase(),
  PascalCase: name =>
    words(name)
      .map(word => word.replace(/^_*./, start => start.toUpperCase()))
      .join(''),
};
