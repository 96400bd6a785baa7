import type { Compile, Constant } from './compile';
import { isExactNumber } from './exact-number';
import type { JsonObject } from './json-text';
import type { Location } from './location';

/**
 * Compiles the code for one class, once, when it is first used. Names and classes as constants of the code read
 * 10 properties with 20 items in 1.7 times the time of code written by hand; closures over variables took 2.5 times.
 */
export class ClassCode {
  /** @param owner name of the class. */
  constructor(
    private readonly owner: string,
    private readonly compile: Compile,
  ) {}

  /** Makes a function that makes instances of the class. */
  maker<T>(Dto: new () => T): () => T {
    return this.compile(this.owner, () => 'return () => new Dto();', [['Dto', Dto]]) as () => T;
  }

  /** Makes a function that sets the properties for which a value was found, in their order. */
  setter(properties: readonly string[]): (dto: object, values: readonly unknown[]) => void {
    const code = (): string => {
      const lines = properties.map(
        (property, index) => `if (values[${index}] !== undefined) dto[${JSON.stringify(property)}] = values[${index}];`,
      );
      return `return (dto, values) => {\n${lines.join('\n')}\n};`;
    };
    return this.compile(this.owner, code, []) as (dto: object, values: readonly unknown[]) => void;
  }

  /**
   * Makes a function that deletes the properties without a value. It deletes only own properties: `delete` of an absent
   * one would make the object slow to use.
   */
  clearer(properties: readonly string[]): (dto: object) => void {
    const code = (): string => {
      const lines = properties
        .map(JSON.stringify as (name: string) => string)
        .map(name => `if (dto[${name}] === undefined && has(dto, ${name})) delete dto[${name}];`);
      return `return dto => {\n${lines.join('\n')}\n};`;
    };
    return this.compile(this.owner, code, [['has', Object.hasOwn]]) as (dto: object) => void;
  }

  /** @param goOn reads a field that is absent, or that the fast path of its type refuses. */
  reader<F extends ReadField, H extends Holder>(
    fields: readonly F[],
    goOn: (field: F, ...from: Parameters<ReadFields<H>>) => void,
  ): ReadFields<H> {
    const readers = fields.flatMap(({ fast }, at): Constant[] => (fast ? [[`read${at}`, fast]] : []));
    const constants: Constant[] = [
      ['fields', fields],
      ['goOn', goOn],
    ];
    if (readers.length > 0)
      constants.push(['prototypeOf', Object.getPrototypeOf], ['inherited', Object.prototype], ...readers);
    return this.compile(this.owner, () => codeOfReader(fields), constants) as ReadFields<H>;
  }

  /**
   * Makes a function that writes the JSON of an object: the values of its declared properties.
   * @param asObject called for a value that is not an object, or has a `toJSON()` or a `then()`. Returns the object to
   * write; throws if the value stands for none.
   */
  textWriter(fields: readonly WrittenField[], asObject: AsObject): (value: unknown) => string {
    return this.writer(fields, 'text', codeOfTextWriter, asObject) as (value: unknown) => string;
  }

  /** Makes a function that converts an object to the one that JSON holds for it, of its declared properties. */
  plainWriter(fields: readonly WrittenField[], asObject: AsObject): (value: unknown) => object {
    return this.writer(fields, 'plain', codeOfPlainWriter, asObject) as (value: unknown) => object;
  }

  private writer(
    fields: readonly WrittenField[],
    form: 'text' | 'plain',
    codeOf: (fields: readonly WrittenField[]) => string,
    asObject: AsObject,
  ): unknown {
    const constants: Constant[] = [
      ['isArray', Array.isArray],
      ['isExactNumber', isExactNumber],
      ['asObject', asObject],
      ...fields.map((field, at): Constant => [`write${at}`, field[form]]),
    ];
    return this.compile(this.owner, () => codeOf(fields), constants);
  }
}

function codeOfReader(fields: readonly ReadField[]): string {
  if (!fields.some(({ fast }) => fast))
    return 'return (holder, json, location) => { for (const field of fields) goOn(field, holder, json, location); };';
  const lines = fields.map(({ key, jsonName, fast }, at) => {
    const name = JSON.stringify(jsonName);
    const rest = `goOn(fields[${at}], holder, json, location);`;
    // A value that every object inherits was not sent: `constructor`, `__proto__`, and later additions to
    // Object.prototype.
    if (!fast) return rest;
    return `sent = json[${name}];
value = sent === inherited[${name}] ? undefined : read${at}(sent);
if (value !== undefined) target[${JSON.stringify(key)}] = value;
else ${rest}`;
  });
  // JSON.parse makes only objects that inherit from Object.prototype; the fields of other parsers' objects are read by
  // `goOn`. (After a property load, V8 reads the prototype at no cost.)
  return `return (holder, json, location) => {
let sent = json[${JSON.stringify(fields[0]?.jsonName)}], value;
const prototype = prototypeOf(json);
if (prototype !== inherited && prototype !== null) {
for (const field of fields) goOn(field, holder, json, location);
return;
}
const { target } = holder;
${lines.join('\n')}
};`;
}

/**
 * Takes the object out of any value. The test stands in the code of each class, where V8 knows the shapes of its
 * objects. A function for all classes took 10 ns more for each object.
 */
const TAKE_OBJECT = `if (typeof value !== 'object' || value === null || value.toJSON !== undefined
|| value.then !== undefined || isArray(value) || isExactNumber(value)) value = asObject(value);`;

/** Writes the code of a text. A method is not a value; the writers of fields with `keeps` leave it out themselves. */
function codeOfTextWriter(fields: readonly WrittenField[]): string {
  const lines = inOrder(fields).map(field => {
    const name = `${JSON.stringify(field.jsonName)}:`;
    const write = `write${fields.indexOf(field)}`;
    const test = field.keeps ? 'own !== undefined' : "own !== undefined && typeof own !== 'function'";
    return `own = value[${JSON.stringify(field.property)}];
if (${test} && (own = own === null ? 'null' : ${write}(own)) !== undefined)
text += (text === '' ? ${JSON.stringify(name)} : ${JSON.stringify(`,${name}`)}) + own;`;
  });
  return `return value => {\n${TAKE_OBJECT}\nlet text = '', own;\n${lines.join('\n')}\nreturn '{' + text + '}';\n};`;
}

/** Writes the code of a plain object. `JSON.stringify` leaves methods out. */
function codeOfPlainWriter(fields: readonly WrittenField[]): string {
  const lines = fields.map(({ property, jsonName, keeps }, at) => {
    // In brackets, `__proto__` is a name like any other.
    const name = jsonName === '__proto__' ? '["__proto__"]' : JSON.stringify(jsonName);
    const own = `(own = value[${JSON.stringify(property)}])`;
    const isAsItIs = keeps
      ? `typeof ${own} !== 'object' && typeof own !== 'bigint' || own === null`
      : `${own} === undefined || own === null || typeof own === 'function'`;
    return `${name}: ${isAsItIs} ? own : write${at}(own),`;
  });
  return `return value => {\n${TAKE_OBJECT}\nlet own;\nreturn {\n${lines.join('\n')}\n};\n};`;
}

/** A property, and the field of a JSON object that it is read from. */
interface ReadField {
  /** Key of the holder's target that its value is stored under. */
  readonly key: string | number;
  readonly jsonName: string;
  /** Fast path of the type (`ReadJson.fast`), if it has one. */
  readonly fast: ((value: unknown) => unknown) | undefined;
}

/** The object that values are stored in. */
interface Holder {
  readonly target: object;
}

/** Reads the fields of a JSON object, one after the other. */
export type ReadFields<H extends Holder> = (holder: H, json: JsonObject, location: Location) => void;

/** A property, the field of a JSON object that its value is written to, and two ways to write it. */
interface WrittenField {
  readonly property: string;
  readonly jsonName: string;
  /** The value as JSON text; undefined for a value that is left out. */
  readonly text: (value: unknown) => string | undefined;
  /** The value as JSON.stringify is to write it. */
  readonly plain: (value: unknown) => unknown;
  /** True if `plain` returns every value as it is, but for objects and bigints. */
  readonly keeps: boolean;
}

type AsObject = (value: unknown) => object;

/** Sorts fields as JSON.stringify does: names that are numbers come first. */
function inOrder(fields: readonly WrittenField[]): WrittenField[] {
  return Object.values(Object.fromEntries(fields.map(field => [field.jsonName, field])));
}
