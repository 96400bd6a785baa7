/**
 * Defines `Symbol.metadata` (TC39 decorator metadata), which no runtime has yet. Compiled code looks it up when a
 * decorated class is made, so every module that declares properties imports this one.
 */
(Symbol as { metadata?: symbol }).metadata ??= Symbol.for('Symbol.metadata');

export {};
