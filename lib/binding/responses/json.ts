import type { Response } from 'express';
import { anything, checkOptions } from '../../options/check';
import { checkIsWritable, CodecTable, notNestableIn } from '../declaration/codec-table';
import { isDto, namingErrors } from '../declaration/declarations';
import type { ResolvedOptions } from '../input/binder-context';
import { parsedJson } from '../input/body';
import { Failures, INVALID, Location, validationProblem } from '../reading/failures';
import { resolveLimits } from '../reading/limits';
import { needsExactNumbers, withParts, type Codec, type Member } from '../types/codec';
import type { AnyType, Infer } from '../types/property-type';
import { readJson } from '../types/read';
import { mergeOptions, responsesRule, serializerRules } from '../types/serializer';
import type { GeneratedContexts, ResponseTypes, SerializerOptions, SerializerTypes } from '../types/serializer';
import { exactText, written } from '../types/write-value';

/** The codecs of an endpoint's responses, by status. */
export type ResponseCodecs = ReadonlyMap<number, Codec>;

/**
 * Finds the codec of a response value by its own declaration; undefined for a value that is not a dto or an array of
 * dtos of one class.
 */
export type CodecOfInstance = (value: unknown) => Codec | undefined;

/**
 * Makes the codecs of the responses.
 * @throws TypeError that names the class and the property that cannot be written.
 */
export function responseCodecs(responses: ResponseTypes, codecs: CodecTable): ResponseCodecs {
  const writable = (type: AnyType): Codec => checkIsWritable(codecs.complete(type));
  const entries = Object.entries(responses);
  return new Map(
    entries.map(([status, type]) => [Number(status), namingErrors(`responses[${status}]`, () => writable(type))]),
  );
}

/**
 * @param codecs the endpoint's codecs, with its naming policy and converters.
 * @param members the properties of its dto.
 */
export function instanceCodecs(codecs: CodecTable, members: readonly Member[]): CodecOfInstance {
  // A value of `oneOf` is an instance of a class, and has the tag, too.
  const branches = new Map<unknown, Codec>();
  for (const part of members.flatMap(({ codec }) => [...withParts(codec)]))
    if (part.kind === 'union') for (const branch of part.branches.values()) branches.set(branch.Dto, branch);
  const codecOf = (value: unknown): Codec | undefined => {
    // A `toJSON` of its own defines its JSON form.
    if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined;
    // A dto may have a property of this name.
    const { constructor: Dto } = Object(Object.getPrototypeOf(value)) as { constructor: unknown };
    if (!isDto(Dto) || !(value instanceof Dto)) return undefined;
    return branches.get(Dto) ?? codecs.complete(Dto);
  };
  return value => {
    if (!Array.isArray(value)) return codecOf(value);
    const [item, ...others] = new Set(value.filter(one => one !== undefined && one !== null).map(codecOf));
    return item && others.length === 0 ? { kind: 'list', name: 'array', item } : undefined;
  };
}

/**
 * Makes `res.json()` write values as the type that is declared for the status, with all digits of numbers and only the
 * declared properties.
 * @param ofInstance finds the codec of a dto if no type is declared for the status.
 */
export function writeResponsesAs(codecs: ResponseCodecs, res: Response, ofInstance?: CodecOfInstance): void {
  // Undeclared responses are those of an earlier middleware, or of Express.
  const json = res.json.bind(res);
  res.json = (value: unknown, ...others: unknown[]) => {
    if (others.some(one => one !== undefined))
      throw new TypeError('res.json() takes the value only; set the status first: res.status(201).json(value)');
    // Node sends a status that is text, too.
    const codec = codecs.get(Number(String(res.statusCode))) ?? ofInstance?.(value);
    if (!codec) return json(value);
    const setting = (name: string): unknown => res.app.get(`json ${name}`);
    const replacer = setting('replacer') as Parameters<typeof exactText>[2];
    const text = exactText(written(codec, value), setting('spaces') as string | number | undefined, replacer);
    if (!res.get('Content-Type')) res.set('Content-Type', 'application/json');
    // For browsers that treat JSON as HTML.
    const escaped = (one: string): string => `\\u00${one.charCodeAt(0).toString(16)}`;
    return res.send(setting('escape') ? text?.replace(/[<>&]/g, escaped) : text);
  };
  const jsonp = res.jsonp.bind(res);
  res.jsonp = (...values: Parameters<typeof jsonp>) => {
    if (codecs.size === 0 && !values.some(one => ofInstance?.(one))) return jsonp(...values);
    throw new TypeError('res.jsonp() knows nothing of the declared responses and names; use res.json()');
  };
}

/** The JSON reader and writer of one endpoint, made by {@link serializerContext}. */
export interface SerializerContext<Q extends AnyType = AnyType> {
  /** The types that it was made for, and its own options. */
  readonly types: SerializerTypes<Q>;
  /**
   * Reads the JSON of a request.
   * @throws a problem that lists all failures; TypeError for a dto with properties of other sources.
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
  rules: Pick<ResolvedOptions, 'limits' | 'quoteValues'> = { limits: resolveLimits(), quoteValues: true },
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
        throw new TypeError(`serializerContext: read() takes all values from the JSON, and ${notInJson}`);
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
