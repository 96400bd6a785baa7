import { compileFunction } from 'node:vm';
import type { JsonObject } from './json-text';
import type { Location } from './location';

/**
 * Compiles code for one class, once, when its middleware is made. Names and classes as constants of the code read 10
 * properties with 20 items in 1.7 times the time of code written by hand; closures over variables took 2.5 times. The
 * code consists of declared names, written as JSON, and of nothing else: no part of a request gets into it.
 * `compileFunction` also works where the runtime forbids code from strings.
 */
function compile(code: string, constants: Readonly<Record<string, unknown>>): unknown {
  return compileFunction(`'use strict'; ${code}`, Object.keys(constants), { filename: 'bindonce:compiled' }).call(
    undefined,
    ...Object.values(constants),
  );
}

/** Makes instances of one class. */
export function makerOf<T>(Dto: new () => T): () => T {
  return compile('return () => new Dto();', { Dto }) as () => T;
}

/** Makes a function that sets the properties for which a value was found, in their order. */
export function setterOf(properties: readonly string[]): (dto: object, values: readonly unknown[]) => void {
  const lines = properties.map(
    (property, index) => `if (values[${index}] !== undefined) dto[${JSON.stringify(property)}] = values[${index}];`,
  );
  return compile(`return (dto, values) => {\n${lines.join('\n')}\n};`, {}) as (
    dto: object,
    values: readonly unknown[],
  ) => void;
}

/**
 * Makes a function that deletes the properties without a value. It deletes only own properties: `delete` of an absent
 * one would make the object slow to use.
 */
export function clearerOf(properties: readonly string[]): (dto: object) => void {
  const lines = properties
    .map(JSON.stringify as (name: string) => string)
    .map(name => `if (dto[${name}] === undefined && has(dto, ${name})) delete dto[${name}];`);
  return compile(`return dto => {\n${lines.join('\n')}\n};`, { has: Object.hasOwn }) as (dto: object) => void;
}

/** A property, and the field of a JSON object that its value is written to. */
export interface WrittenField {
  readonly property: string;
  readonly jsonName: string;
  /** Returns undefined for a value that is left out. */
  readonly write: (value: unknown) => string | undefined;
}

/** Makes a function that writes the JSON of an object: the values of its declared properties. */
export function writerOf(fields: readonly WrittenField[]): (value: object) => string {
  const lines = inOrder(fields).map(({ property, jsonName }) => {
    const at = fields.findIndex(field => field.property === property);
    const name = `${JSON.stringify(jsonName)}:`;
    return `own = value[${JSON.stringify(property)}]; if (own !== undefined && (own = own === null ? 'null' : write${at}(own)) !== undefined) text += (text === '' ? ${JSON.stringify(name)} : ${JSON.stringify(`,${name}`)}) + own;`;
  });
  const writers = Object.fromEntries(fields.map(({ write }, at) => [`write${at}`, write]));
  return compile(
    `return value => {\nlet text = '', own;\n${lines.join('\n')}\nreturn '{' + text + '}';\n};`,
    writers,
  ) as (value: object) => string;
}

/** Sorts fields as JSON.stringify does: names that are numbers come first. */
function inOrder(fields: readonly WrittenField[]): WrittenField[] {
  return Object.values(Object.fromEntries(fields.map(field => [field.jsonName, field])));
}

/** A property, and the field of a JSON object that it is read from. */
export interface Field {
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

/** @param goOn reads a field that is absent, or that the fast path of its type refuses. */
export function readerOf<F extends Field, H extends Holder>(
  fields: readonly F[],
  goOn: (field: F, ...from: Parameters<ReadFields<H>>) => void,
): ReadFields<H> {
  const lines = fields.map(({ key, jsonName, fast }, at) => {
    const name = JSON.stringify(jsonName);
    const rest = `goOn(fields[${at}], holder, json, location);`;
    // A value that every object inherits was not sent: `constructor`, `__proto__`, and later additions to
    // Object.prototype.
    if (!fast) return rest;
    return `sent = json[${name}]; value = sent === inherited[${name}] ? undefined : read${at}(sent); if (value !== undefined) target[${JSON.stringify(key)}] = value; else ${rest}`;
  });
  const readers = Object.fromEntries(fields.map(({ fast }, at) => [`read${at}`, fast]));
  // JSON.parse makes only objects that inherit from Object.prototype. (After a property load, V8 reads the prototype at
  // no cost.)
  const guard = `let sent = json[${JSON.stringify(fields[0]?.jsonName)}]; const prototype = prototypeOf(json); if (prototype !== inherited && prototype !== null) { for (const field of fields) goOn(field, holder, json, location); return; }`;
  return compile(
    `return (holder, json, location) => {\n${guard}\nconst { target } = holder; let value;\n${lines.join('\n')}\n};`,
    { prototypeOf: Object.getPrototypeOf, inherited: Object.prototype, fields, goOn, ...readers },
  ) as ReadFields<H>;
}
