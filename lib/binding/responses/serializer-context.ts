import { anything, checkOptions, describe } from '../../options/check';
import { CodecTable, notNestableIn } from '../declaration/codec-table';
import { namingErrors } from '../declaration/declarations';
import { parsedJson } from '../input/body';
import { Failures, validationProblem } from '../reading/failures';
import { resolveLimits, type ResolvedLimits } from '../reading/limits';
import { INVALID, Location } from '../reading/location';
import { needsExactNumbers } from '../types/codec';
import type { AnyType, Infer } from '../types/property-type';
import { readJson } from '../types/read-json';
import { mergeOptions, responsesRule, serializerRules } from '../types/serializer-options';
import type { GeneratedContexts, SerializerOptions, SerializerTypes } from '../types/serializer-options';
import { exactText, written } from '../types/write-value';
import { responseCodecs } from './json-writer';

/** The application's rules for the JSON that a context reads. */
interface ReadingRules {
  readonly limits: ResolvedLimits;
  /** Whether failures quote the values that they refuse. */
  readonly quoteValues: boolean;
}

/** The JSON reader and writer of one endpoint, made by {@link serializerContext}. */
export interface SerializerContext<Q extends AnyType = AnyType> {
  /** The types that it was made for, and its own options. */
  readonly types: SerializerTypes<Q>;
  /**
   * Reads the JSON of a request.
   * @throws a problem that lists all failures; TypeError if it is not text, or for a dto with properties of other
   * sources.
   */
  read(json: string): Promise<Infer<Q>>;
  /**
   * Writes the response for a status.
   * @throws TypeError for a status that has no type, and what a converter or a method of the value throws.
   */
  write(status: number, value: unknown): string;
}

/**
 * Prepares the JSON reader and writer of one endpoint, to be passed to it (`bindRequest(Dto, { serializerContext })`).
 * Options that are not given are those of the endpoint.
 * @throws TypeError for a type that cannot be read or written; the message names the property.
 */
export function serializerContext<Q extends AnyType>(types: SerializerTypes<Q>): SerializerContext<Q> {
  return makeSerializerContext(types);
}

/**
 * @param defaults the options of the application.
 * @param rules the application's rules for what is read.
 */
export function makeSerializerContext<Q extends AnyType>(
  types: SerializerTypes<Q>,
  defaults: SerializerOptions = {},
  rules: ReadingRules = { limits: resolveLimits(), quoteValues: true },
): SerializerContext<Q> {
  checkOptions('serializerContext', types, { ...serializerRules, request: anything, responses: responsesRule });
  const { request, responses = {} } = types;
  const codecs = new CodecTable(mergeOptions(defaults, types));
  const [writers, reader] = namingErrors('serializerContext', () => [
    responseCodecs(responses, codecs),
    request && codecs.complete(request),
  ]);
  return {
    types,
    async read(json) {
      if (!reader)
        throw new TypeError('serializerContext: it was made without a request type; pass { request: PlaceOrder, … }');
      const notInJson = notNestableIn(reader);
      if (notInJson !== undefined)
        throw new TypeError(
          `serializerContext: read() takes all values from the JSON, and ${notInJson} ` +
            'bind(Dto, { body, headers, claims, … }) binds such a dto without a request.',
        );
      if (typeof (json as unknown) !== 'string')
        throw new TypeError(`serializerContext: read() takes the text of the JSON, and was given ${describe(json)}.`);
      const failures = new Failures(rules.limits, rules.quoteValues);
      const sent = parsedJson('The text', json, needsExactNumbers(reader));
      const value = await readJson(reader, sent, Location.of(failures, 'json', ''));
      await failures.settle();
      if (failures.list.length > 0) throw validationProblem(failures);
      return (value === INVALID ? undefined : value) as Infer<Q>;
    },
    write(status, value) {
      const codec = writers.get(status);
      if (codec) return exactText(written(codec, value)) ?? '';
      throw new TypeError(
        `serializerContext: it was made without a response type for ${status}; pass { responses: { ${status}: … } }`,
      );
    },
  };
}

/** Adds the generated contexts of a project to options: `configure({ binding: registerContexts({ … }) })`. */
export type RegisterContexts = <O extends SerializerOptions = SerializerOptions>(
  options?: O,
) => O & Required<Pick<SerializerOptions, 'contexts'>>;

/** Makes the function that registers contexts. The modules that `npx bindonce generate` writes call it. */
export function generatedContexts(contexts: GeneratedContexts): RegisterContexts {
  return <O extends SerializerOptions>(options?: O) =>
    Object.assign({}, options, { contexts: [...(options?.contexts ?? []), ...contexts] });
}
