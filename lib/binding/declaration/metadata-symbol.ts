/**
 * `Symbol.metadata` (TC39 decorator metadata) is in no runtime yet; compilers look it up when a decorated class is made, so
 * it has to be there before. This module is imported by everything that declares properties.
 */
(Symbol as { metadata?: symbol }).metadata ??= Symbol.for('Symbol.metadata');

export {};
