import type { ValueSource } from './value-source';

/** SPEC, "HTTP headers": names in any case (RFC 9110, section 5.1); repeated lines are several values. */
export const header: ValueSource = {
  source: 'header',
  missing: 'This header is missing from the request.',
  open(context) {
    // `req.headers` joins repeated lines, or keeps the first only.
    const lines = context.req.headersDistinct;
    return ({ name, type }) => {
      const values = lines[name.toLowerCase()];
      return values && type.fromText(values, context.at('header', name));
    };
  },
};
