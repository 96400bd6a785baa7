import type { Late } from '../../basics/late';
import { CLEARER, MAKER, PLAIN_WRITER, READER, SETTER, TEXT_WRITER } from './code-templates';
import type { Compile } from './compile';
import { isExactNumber } from '../../body/content/exact-json';
import type { FoundValues } from './found-values';
import type { JsonObject } from './json-text';
import type { Location } from './location';

/**
 * Compiles the code for one class, each function once, when it is first asked for. Names and classes as constants of
 * the code read 10 properties with 20 items in 1.7 times the time of code written by hand; closures over variables took
 * 2.5 times.
 */
export class ClassCode {
  /** @param owner name of the class. */
  constructor(
    private readonly owner: string,
    private readonly compile: Compile,
  ) {}

  /** Makes a function that makes instances of the class. */
  maker<T>(Dto: new () => T): Late<() => T> {
    return this.compile(this.owner, MAKER, undefined, () => [Dto]) as Late<() => T>;
  }

  /** Makes a function that sets the properties for which a value was found, in their order. */
  setter(properties: readonly string[]): Late<(dto: object, values: readonly unknown[]) => void> {
    return this.compile(this.owner, SETTER, properties, () => []) as ReturnType<ClassCode['setter']>;
  }

  /**
   * Makes a function that deletes the properties without a value. It deletes only own properties: `delete` of an absent
   * one would make the object slow to use.
   */
  clearer(properties: readonly string[]): Late<(dto: object) => void> {
    return this.compile(this.owner, CLEARER, properties, () => [Object.hasOwn]) as Late<(dto: object) => void>;
  }

  /** @param goOn reads a field that is absent, or that the fast path of its type refuses. */
  reader<F extends ReadField>(
    fields: readonly F[],
    goOn: (field: F, ...from: Parameters<ReadFields>) => void,
  ): Late<ReadFields> {
    const facts = fields.map(({ key, jsonName, fast }) => [key, jsonName, fast !== undefined] as const);
    const constants = (): unknown[] => {
      const readers = fields.flatMap(({ fast }) => fast ?? []);
      return [fields, goOn, ...(readers.length > 0 ? [Object.getPrototypeOf, Object.prototype, ...readers] : [])];
    };
    return this.compile(this.owner, READER, facts, constants) as Late<ReadFields>;
  }

  /**
   * Makes a function that writes the JSON of an object: the values of its declared properties.
   * @param asObject called for a value that is not an object, or has a `toJSON()` or a `then()`. Returns the object to
   * write; throws if the value stands for none.
   */
  textWriter(fields: readonly WrittenField[], asObject: AsObject): Late<(value: unknown) => string> {
    return this.writer(TEXT_WRITER, fields, asObject, ({ text }) => text()) as Late<(value: unknown) => string>;
  }

  /** Makes a function that converts an object to the one that JSON holds for it, of its declared properties. */
  plainWriter(fields: readonly WrittenField[], asObject: AsObject): Late<(value: unknown) => object> {
    return this.writer(PLAIN_WRITER, fields, asObject, ({ plain }) => plain()) as Late<(value: unknown) => object>;
  }

  private writer(
    template: typeof TEXT_WRITER,
    fields: readonly WrittenField[],
    asObject: AsObject,
    writerOf: (field: WrittenField) => unknown,
  ): unknown {
    const facts = fields.map(({ property, jsonName, keeps }) => [property, jsonName, keeps] as const);
    const constants = (): unknown[] => [Array.isArray, isExactNumber, asObject, ...fields.map(writerOf)];
    return this.compile(this.owner, template, facts, constants);
  }
}

/** A property, and the field of a JSON object that it is read from. */
interface ReadField {
  /** Key that its value is put under. */
  readonly key: string | number;
  readonly jsonName: string;
  /** Fast path of the type (`ReadJson.fast`), if it has one. */
  readonly fast: ((value: unknown) => unknown) | undefined;
}

/** Reads the fields of a JSON object, one after the other. */
export type ReadFields = (found: FoundValues, json: JsonObject, location: Location) => void;

/** A property, the field of a JSON object that its value is written to, and two ways to write it. */
interface WrittenField {
  readonly property: string;
  readonly jsonName: string;
  /** The value as JSON text; undefined for a value that is left out. */
  readonly text: Late<(value: unknown) => string | undefined>;
  /** The value as JSON.stringify is to write it. */
  readonly plain: Late<(value: unknown) => unknown>;
  /** True if `plain` returns every value as it is, but for objects and bigints. */
  readonly keeps: boolean;
}

type AsObject = (value: unknown) => object;
