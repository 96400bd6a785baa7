import type { Pair } from '../../body/content/urlencoded';
import { convertedText } from '../reading/json-text';
import { readSegments } from '../types/read-text';
import { readByName } from './read-by-name';
import type { ValueSource } from './request-input';

/** Route parameters; names are case-insensitive. A wildcard is a list of segments in Express 5, text in Express 4. */
export const route: ValueSource = {
  name: 'route',
  missing: 'This route parameter is required.',
  read(input, sourceProperties, found) {
    const parameters = Object.entries(input.req.params as Readonly<Record<string, unknown>>);
    const texts = parameters.flatMap(([name, value]): Pair[] => {
      const text = convertedText(value);
      return text === undefined ? [] : [[name, text]];
    });
    readByName('route', texts, input, sourceProperties, found);
    for (const [name, segments] of parameters) {
      if (!Array.isArray(segments)) continue;
      for (const property of sourceProperties.filter(({ anyCase }) => anyCase === name.toLowerCase()))
        found.put(
          property.index,
          readSegments(property, segments.map(String), input.locationOf('route', property.name)),
        );
    }
  },
};
