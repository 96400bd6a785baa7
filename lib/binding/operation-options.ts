import { boolean, checkOptions, object, type Rule } from '../options/check';

/** What the API description says about an endpoint (OpenAPI 3.1, section 4.8.10). */
export interface OperationOptions {
  /** A short line about the endpoint. Default none. */
  summary?: string;
  /** Text about the endpoint, which may be Markdown. Default none. */
  description?: string;
  /** Names that group endpoints. Default none. */
  tags?: readonly string[];
  /** Name of the operation, unique in the API. Default: made from method and path. */
  operationId?: string;
  /** When true, the endpoint is marked as deprecated. Default false. */
  deprecated?: boolean;
  /** When true, the endpoint is left out. Default false. */
  hidden?: boolean;
  /** Examples of the request body by name: `{ small: { summary: 'One item', value: { … } } }`. Default none. */
  examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

const text: Rule = { expects: 'text', accepts: value => typeof value === 'string' };

const rules: Readonly<Record<keyof OperationOptions, Rule>> = {
  summary: text,
  description: text,
  tags: {
    expects: 'an array of names',
    accepts: value => Array.isArray(value) && value.every(one => typeof one === 'string'),
  },
  operationId: text,
  deprecated: boolean,
  hidden: boolean,
  examples: object,
};

/** @throws TypeError for an unknown option or an invalid value. */
export function checkOperation(options: OperationOptions): void {
  checkOptions('bindRequest: openapi', options, rules);
}
