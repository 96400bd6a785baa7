const Sequencer = require('@jest/test-sequencer').default;

const isStorm = ({ path }) => path.endsWith('storms.spec.ts');

/** Starts the storms first: they take longest, and do so one after the other. */
module.exports = class StormsFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((one, other) => isStorm(other) - isStorm(one));
  }
};
