import { anything, checkOptions } from '../../options/check';
import { Problem } from '../../problems/problem';
import { namingErrors } from '../declaration/declaration-error';
import { Failures, validationProblem } from '../reading/failures';
import { describeJsonError, parseExactly } from '../../body/content/exact-json';
import { resolveLimits, type ResolvedLimits } from '../reading/limits';
import { Location, withoutMark } from '../reading/location';
import {
  mergeSerializer,
  responsesRule,
  serializerRules,
  type SerializerOptions,
  type SerializerTypes,
} from '../types/serializer-options';
import { needsExactNumbers, type Codec } from '../types/codec';
import { readJson } from '../types/read-json';
import { CodecTable } from '../plan/codec-table';
import { notNestableIn } from '../plan/checks';
import type { AnyType, Infer } from '../types/property-type';
import { responseCodecs, writeJson } from './json-writer';

/** The application's rules for the JSON that a context reads. */
interface ReadingRules {
  readonly limits: ResolvedLimits;
  /** Whether failures quote the values that they refuse. */
  readonly quoteValues: boolean;
}

const DEFAULT_RULES: ReadingRules = { limits: resolveLimits(), quoteValues: true };

/** Shared by every copy of this module in the process: an endpoint of one copy takes a context of another. */
const CONTEXT = Symbol.for('bindonce.serializer-context');

/** The JSON reader and writer of one endpoint, made by {@link serializerContext}. */
export class SerializerContext<Q extends AnyType = AnyType> {
  private readonly reader: Codec<Infer<Q>> | undefined;
  /** Says which property of the request is not in its JSON; an endpoint binds it, but `read()` cannot. */
  private readonly notInJson: string | undefined;
  private readonly parse: (json: string) => unknown;
  private readonly written: ReturnType<typeof responseCodecs>;

  /** @internal Returns true for a context, also for one of another copy of this module: `instanceof` knows its own. */
  static is(value: unknown): value is SerializerContext {
    return typeof value === 'object' && value !== null && CONTEXT in value;
  }

  /** @internal */
  get [CONTEXT](): true {
    return true;
  }

  constructor(
    /** The types that it was made for, and its own options. */
    readonly types: SerializerTypes<Q>,
    /** The options that count where `types` has none: those of `configure()`. */
    readonly defaults: SerializerOptions,
    private readonly rules: ReadingRules,
  ) {
    const { request, responses = {} } = types;
    const codecs = new CodecTable(mergeSerializer(defaults, types));
    this.written = namingErrors('serializerContext', () => responseCodecs(responses, codecs));
    this.reader = request && namingErrors('serializerContext', () => codecs.complete(request));
    this.notInJson = this.reader && notNestableIn(this.reader);
    this.parse = this.reader && needsExactNumbers(this.reader) ? parseExactly : JSON.parse;
  }

  /**
   * Reads the JSON of a request.
   * @throws a problem that lists all failures; TypeError if it is not text, or for a dto with properties of other
   * sources.
   */
  async read(json: string): Promise<Infer<Q>> {
    if (!this.reader)
      throw new TypeError('serializerContext: it was made without a request type; pass { request: PlaceOrder, … }');
    if (this.notInJson !== undefined)
      throw new TypeError(
        `serializerContext: read() takes all values from the JSON, and ${this.notInJson} ` +
          'bind(Dto, { body, headers, claims, … }) binds such a dto without a request.',
      );
    const given: unknown = json;
    if (typeof given !== 'string') {
      const what = given instanceof Uint8Array ? 'bytes: call toString() on them' : `a value of type ${typeof given}`;
      throw new TypeError(`serializerContext: read() takes the text of the JSON, and was given ${what}.`);
    }
    const { limits, quoteValues } = this.rules;
    const failures = new Failures(limits, quoteValues);
    const value = await readJson(this.reader, this.parsed(json), Location.inJson(failures, ''));
    await failures.settle();
    if (failures.list.length > 0) throw validationProblem(failures);
    return withoutMark(value) as Infer<Q>;
  }

  /**
   * Writes the response for a status.
   * @throws TypeError for a status that has no type, and what a converter or a method of the value throws.
   */
  write(status: number, value: unknown): string {
    const codec = this.written.get(status);
    if (!codec)
      throw new TypeError(
        `serializerContext: it was made without a response type for ${status}; pass { responses: { ${status}: … } }`,
      );
    return writeJson(codec, value) ?? '';
  }

  private parsed(json: string): unknown {
    try {
      return this.parse(json);
    } catch (error) {
      throw new Problem('body-malformed', describeJsonError('The text', json, error), { cause: error });
    }
  }
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
  rules: ReadingRules = DEFAULT_RULES,
): SerializerContext<Q> {
  checkOptions('serializerContext', types, { ...serializerRules, request: anything, responses: responsesRule });
  return new SerializerContext(types, defaults, rules);
}
