import { readPairs } from '../../body/pairs';
import { NamedValues, readNamed } from './named-values';
import type { ValueSource } from './value-source';

/** SPEC, "Query parameters". Read from the URL: what `req.query` is depends on the application's query parser. */
export const query: ValueSource = {
  source: 'query',
  missing: 'This query parameter is required.',
  open(context) {
    const url = context.req.originalUrl;
    const mark = url.indexOf('?');
    if (mark < 0) return undefined;
    const values = new NamedValues(readPairs(url.slice(mark + 1), context.settings.limits.fields));
    return slot => readNamed(values, slot, context.at('query', slot.name));
  },
};
