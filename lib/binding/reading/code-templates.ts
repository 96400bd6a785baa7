import { Template } from './template';

/*
 * The code for one class. It contains declared names, written as JSON, and no part of a request.
 *
 * Each function stands in parentheses: V8 compiles such a function together with the code around it. Otherwise it reads
 * the text of the function twice, which takes a tenth of the start of 300 endpoints.
 */

/** A property, the field of a JSON object that it is read from or written to, and whether the code has a fast path. */
type FieldFacts = readonly [key: string | number, jsonName: string, isFast: boolean];

/** Facts that show all code for fields: with and without a fast path, and of the one name that is special. */
const examples: readonly (readonly FieldFacts[])[] = [
  [
    ['a', 'a', true],
    ['b', 'b', false],
    ['c', '__proto__', true],
  ],
  [['d', '__proto__', false]],
];
const names = [['a', 'b']];

/** The code of a function that makes instances of a class. */
export const MAKER = new Template<undefined>({
  examples: [undefined],
  parameters: () => ['Dto'],
  body: () => 'return (function () { return new Dto(); });',
});

/** The code of a function that sets the properties for which there is a value. */
export const SETTER = new Template<readonly string[]>({
  examples: names,
  parameters: () => [],
  body: properties => {
    const lines = properties.map(
      (property, index) => `if (values[${index}] !== undefined) dto[${JSON.stringify(property)}] = values[${index}];`,
    );
    return `return (function (dto, values) {\n${lines.join('\n')}\n});`;
  },
});

/** The code of a function that deletes own properties without a value. */
export const CLEARER = new Template<readonly string[]>({
  examples: names,
  parameters: () => ['has'],
  body: properties => {
    const lines = properties
      .map(JSON.stringify as (name: string) => string)
      .map(name => `if (dto[${name}] === undefined && has(dto, ${name})) delete dto[${name}];`);
    return `return (function (dto) {\n${lines.join('\n')}\n});`;
  },
});

/** The code of a function that reads the fields of a JSON object; those with a fast path have a reader of their own. */
export const READER = new Template<readonly FieldFacts[]>({
  examples,
  parameters: fields => {
    const readers = fields.flatMap(([, , isFast], at) => (isFast ? [`read${at}`] : []));
    return ['fields', 'goOn', ...(readers.length > 0 ? ['prototypeOf', 'inherited', ...readers] : [])];
  },
  body: fields => {
    const goOnWithAll = 'for (const field of fields) goOn(field, found, json, location);';
    if (!fields.some(([, , isFast]) => isFast)) return `return (function (found, json, location) { ${goOnWithAll} });`;
    // JSON.parse makes only objects that inherit from Object.prototype; the fields of other parsers' objects are read
    // by `goOn`. (After a property load, V8 reads the prototype at no cost.)
    return `return (function (found, json, location) {
let sent = json[${JSON.stringify(fields[0]?.[1])}], value;
const prototype = prototypeOf(json);
if (prototype !== inherited && prototype !== null) {
${goOnWithAll}
return;
}
const { target } = found;
${fields.map(codeOfField).join('\n')}
});`;
  },
});

function codeOfField([key, jsonName, isFast]: FieldFacts, at: number): string {
  const name = JSON.stringify(jsonName);
  const goOn = `goOn(fields[${at}], found, json, location);`;
  if (!isFast) return goOn;
  // A value that every object inherits was not sent: `constructor`, `__proto__`, and later additions to
  // Object.prototype.
  return `sent = json[${name}];
if (sent === inherited[${name}] || (value = read${at}(sent)) === undefined) ${goOn}
else target[${JSON.stringify(key)}] = value;`;
}

/**
 * Takes the object out of any value. The test stands in the code of each class, where V8 knows the shapes of its
 * objects. A function for all classes took 10 ns more for each object.
 */
const TAKE_OBJECT = `if (typeof value !== 'object' || value === null || value.toJSON !== undefined
|| value.then !== undefined || isArray(value) || isExactNumber(value)) value = asObject(value);`;

const parametersOfWriter = (fields: readonly FieldFacts[]): string[] => [
  'isArray',
  'isExactNumber',
  'asObject',
  ...fields.map((_, at) => `write${at}`),
];

/**
 * The code of a function that writes the text of a JSON object. A method is not a value; the writers of fields with a
 * fast path leave it out themselves.
 */
export const TEXT_WRITER = new Template<readonly FieldFacts[]>({
  examples,
  parameters: parametersOfWriter,
  body: fields => {
    const lines = inOrder(fields).map(field => {
      const [property, jsonName, isFast] = field;
      const name = `${JSON.stringify(jsonName)}:`;
      const write = `write${fields.indexOf(field)}`;
      const test = isFast ? 'own !== undefined' : "own !== undefined && typeof own !== 'function'";
      return `own = value[${JSON.stringify(property)}];
if (${test} && (own = own === null ? 'null' : ${write}(own)) !== undefined)
text += (text === '' ? ${JSON.stringify(name)} : ${JSON.stringify(`,${name}`)}) + own;`;
    });
    return `return (function (value) {
${TAKE_OBJECT}
let text = '', own;
${lines.join('\n')}
return '{' + text + '}';
});`;
  },
});

/** The code of a function that makes the object that JSON.stringify is to write, which leaves methods out. */
export const PLAIN_WRITER = new Template<readonly FieldFacts[]>({
  examples,
  parameters: parametersOfWriter,
  body: fields => {
    const lines = fields.map(([property, jsonName, isFast], at) => {
      // In brackets, `__proto__` is a name like any other.
      const name = jsonName === '__proto__' ? '["__proto__"]' : JSON.stringify(jsonName);
      const own = `(own = value[${JSON.stringify(property)}])`;
      const isAsItIs = isFast
        ? `typeof ${own} !== 'object' && typeof own !== 'bigint' || own === null`
        : `${own} === undefined || own === null || typeof own === 'function'`;
      return `${name}: ${isAsItIs} ? own : write${at}(own),`;
    });
    return `return (function (value) {\n${TAKE_OBJECT}\nlet own;\nreturn {\n${lines.join('\n')}\n};\n});`;
  },
});

/** Sorts fields as JSON.stringify does: names that are numbers come first. */
function inOrder(fields: readonly FieldFacts[]): FieldFacts[] {
  return Object.values(Object.fromEntries(fields.map(field => [field[1], field])));
}
