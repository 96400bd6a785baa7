const Sequencer = require('@jest/test-sequencer').default;

const isStorm = ({ path }) => path.endsWith('storms.spec.ts');

/** Starts the storms last: their processes stall each other, and all others, where they have no processor of their own. */
module.exports = class StormsLast extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((one, other) => isStorm(one) - isStorm(other));
  }
};
